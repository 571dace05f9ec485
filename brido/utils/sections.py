"""What the sections of params.yaml are made of: strict models and ranges of numbers."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from brido.utils.errors import BridoError, close_to, quoted, short

# Numbers are bounded by what generators, arrays and float32 can hold, far above what makes sense.
Positive = Annotated[int, Field(ge=1, lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
# How many of a text's tokens or of a search's beams.
Size = Annotated[int, Field(lt=2**31)]
NonNegative = Annotated[float, Field(ge=0, le=1e12)]
Number = Annotated[float, Field(gt=0, le=1e30)]
# Of a length: 1,000 to the power of 12 is still a float32.
Exponent = Annotated[float, Field(ge=-12, le=12)]
Share = Annotated[float, Field(ge=0, le=1)]
# A share that leaves something.
PartialShare = Annotated[float, Field(ge=0, lt=1)]


def _legible(text: str) -> str:
    if any(unicodedata.category(sign) in {"Cc", "Cs"} and sign not in "\n\t" for sign in text):
        raise ValueError("holds control characters")
    return text


def _named(text: str) -> str:
    if not text.strip() or set("\n\t") & set(text):
        raise ValueError("must not be empty, and stand on one line")
    return text


# A text that a model reads.
Prompt = Annotated[str, AfterValidator(_legible)]
# A path, or the name of a column, a model, a variable: as long as a path may be.
Name = Annotated[Prompt, Field(max_length=4096), AfterValidator(_named)]


class Section(BaseModel):
    """A section of params.yaml: unknown keys are refused, values are never coerced or changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        problems = list(self.problems())
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def problems(self) -> Iterator[str]:
        """A sentence for everything that is wrong with values that are right one by one."""
        yield from ()


class Variant(Section):
    """One of the forms of a section, with the keys that matter in this form alone.

    The value of the key `chooser` says which form it is: the one value that this form's field
    takes, or any that no other form takes; these are `otherwise`, in words.
    """

    chooser: ClassVar[str]
    otherwise: ClassVar[str] = ""

    @classmethod
    def choice(cls) -> str:
        """The value that chooses this form, or `otherwise`."""
        return cls.otherwise or get_args(cls.model_fields[cls.chooser].annotation)[0]


def forms(annotation: Any) -> list[Any]:
    """Return the sections that a key may hold: several if one of its keys chooses between them."""
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, Section) else []
    if get_origin(annotation) is dict:
        return []
    return [section for part in get_args(annotation) for section in forms(part)]


def inherited(section: type[BaseModel], name: str, *default: Any) -> Any:
    """Return the field `name` of `section`, with its description, for a form that narrows it.

    default: what a params.yaml without the key means; without one the key is required.
    """
    return Field(*default, description=section.model_fields[name].description)


def choose_by_default(key: str, value: str) -> BeforeValidator:
    """The value of the key that chooses a form, where params.yaml leaves it out."""
    return BeforeValidator(lambda raw: {key: value} | raw if isinstance(raw, dict) else raw)


_Section = TypeVar("_Section", bound=Section)


def checked(
    section: type[_Section], raw: Any, heading: str, spelt: Callable[[str], str] = str
) -> _Section:
    """Return the section that `raw` means.

    heading: how the message begins. spelt: how a caller names a dotted key, such as `--max-length`.

    Raises:
        BridoError: some keys or values are wrong (all named).
    """
    try:
        return section.model_validate(raw)
    except ValidationError as error:
        problems = problems_of(error, section, spelt=spelt)
        raise BridoError.from_problems(heading, problems) from None


def problems_of(
    error: ValidationError,
    section: type[Section],
    moved: Mapping[str, str] | None = None,
    spelt: Callable[[str], str] = str,
) -> list[str]:
    """What pydantic found wrong with a section, a sentence each: key, reason, value, way out.

    moved: keys that belong elsewhere, with their place. spelt: see `checked`.
    """
    found: dict[str, None] = {}
    for item in error.errors():
        keys, inner, annotation = _place(item["loc"], section)
        # Where a text or a list may stand, pydantic also tries a list as a text, and says so.
        is_list = item["type"] == "string_type" and isinstance(item["input"], list | tuple)
        if is_list and isinstance(form := item["loc"][-1], str) and form != keys[-1]:
            continue
        if item["type"] == "union_tag_invalid":
            keys.append(forms(annotation)[0].chooser)
        key = spelt(".".join(map(short, keys))) if keys else ""
        if item["type"] == "value_error":
            reasons = str(item["ctx"]["error"]).split("\n")
        elif item["type"] == "extra_forbidden":
            reasons = [_unknown(keys, inner, moved or {})]
        else:
            reasons = [_reason(item, forms(annotation))]
        found |= dict.fromkeys(f"{key}: {reason}" if key else reason for reason in reasons)
    return list(found)


def _place(
    location: Sequence[str | int], section: type[Section]
) -> tuple[list[str], type[Section], Any]:
    """The keys of pydantic's location, the section around the last one, what may stand there.

    pydantic also counts in the forms of sections and types.
    """
    keys: list[str] = []
    annotation: Any = section
    for part in location:
        sections = forms(annotation)
        if part == "[key]":  # pydantic's word for a key that is itself no text
            break
        if len(sections) > 1:
            annotation = next(form for form in sections if form.choice() == part)
            continue
        if sections:
            section = sections[0]
            field = section.model_fields.get(str(part))
            annotation = field.annotation if field else None
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        elif not isinstance(part, int):
            continue
        keys.append(str(part))
    return keys, section, annotation


def _reason(item: Any, variants: Sequence[Any]) -> str:
    """Why a value cannot be, in pydantic's words or ours; variants: the forms of its section."""
    value = item["input"]
    if item["type"] == "missing":
        return "this key is missing"
    if item["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        return f"must be a section with keys, not {_shown(value)}"
    if item["type"] == "union_tag_invalid":
        chooser = variants[0].chooser
        *others, last = (repr(form.choice()) for form in variants)
        return f"must be {', '.join(others)} or {last}, not {_shown(value[chooser])}"
    message = item["msg"].replace("Input should be ", "must be ")
    hint = "; an empty value is written null" if value == "None" else ""
    return f"{message.replace('True, False', 'true, false')}, not {_shown(value)}{hint}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else quoted(value)


def _unknown(keys: list[str], section: type[Section], moved: Mapping[str, str]) -> str:
    """What is said of a key that its section, in the form that was chosen, does not have."""
    *outer, name = keys
    if name in moved:
        return f"belongs to {moved[name]}: move it there"
    where = ""
    if issubclass(section, Variant):
        where = f" where {'.'.join([*outer, section.chooser])} is {section.choice()}"
    hint = close_to(name, section.model_fields, "".join(f"{key}." for key in outer))
    return f"unknown key{where}{hint}"
