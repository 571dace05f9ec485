"""What the sections of params.yaml are made of: strict models and ranges of numbers."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, get_args, get_origin

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


def _writable(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    if any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in text):
        raise ValueError("holds characters that no name has, such as control characters")
    return text


# A path, or the name of a column, a model, a variable: as long as a path may be.
Name = Annotated[str, Field(max_length=4096), AfterValidator(_writable)]


def _legible(text: str) -> str:
    if any(unicodedata.category(sign) in {"Cc", "Cs"} and sign not in "\n\t" for sign in text):
        raise ValueError("holds control characters other than new lines and tabs")
    return text


# A text that a model reads.
Prompt = Annotated[str, AfterValidator(_legible)]


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
        # pydantic also tries a list as a single text, and says so.
        if item["type"] != "string_type" or not isinstance(item["input"], list | tuple):
            found |= dict.fromkeys(_described(item, section, moved or {}, spelt))
    return list(found)


class _Place(NamedTuple):
    """Where a problem is: its keys, the section around the last one, what may stand there."""

    keys: list[str]
    section: type[Section]
    annotation: Any


def _place(location: Sequence[str | int], section: type[Section]) -> _Place:
    """pydantic's location as keys: without the forms of sections and types that it counts in."""
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
    return _Place(keys, section, annotation)


def _described(
    item: Any, section: type[Section], moved: Mapping[str, str], spelt: Callable[[str], str]
) -> list[str]:
    place, kind, value = _place(item["loc"], section), item["type"], item["input"]
    key = spelt(".".join(map(short, place.keys))) if place.keys else ""
    if kind == "extra_forbidden":
        return [f"{key}: {_unknown(place, moved)}"]
    if kind == "missing":
        return [f"{key}: this key is missing"]
    if kind == "value_error":
        reasons = str(item["ctx"]["error"]).split("\n")
        return [f"{key}: {reason}" if key else reason for reason in reasons]
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return [f"{key}: must be a section with keys, not {_shown(value)}"]
    if kind == "union_tag_invalid":
        variants = forms(place.annotation)
        names = [repr(form.choice()) for form in variants]
        key, value = f"{key}.{variants[0].chooser}", value[variants[0].chooser]
        message = f"must be {', '.join(names[:-1])} or {names[-1]}"
    else:
        message = item["msg"].replace("Input should be ", "must be ")
        message = message.replace("True, False", "true, false")
    hint = "; an empty value is written null" if value == "None" else ""
    return [f"{key}: {message}, not {_shown(value)}{hint}"]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else quoted(value)


def _unknown(place: _Place, moved: Mapping[str, str]) -> str:
    """What is said of a key that its section, in the form that was chosen, does not have."""
    *outer, name = place.keys
    if name in moved:
        return f"belongs to {moved[name]}: move it there"
    section, where = place.section, ""
    if issubclass(section, Variant):
        where = f" where {'.'.join([*outer, section.chooser])} is {section.choice()}"
    hint = close_to(name, section.model_fields, "".join(f"{key}." for key in outer))
    return f"unknown key{where}{hint}"
