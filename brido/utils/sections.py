"""What the sections of params.yaml are made of: strict models and ranges of numbers."""

import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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
