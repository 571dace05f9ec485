"""Section support: which checker says how much of a text its source supports."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from brido.utils.sections import Section, Variant, choose_by_default, inherited

# A sentence that is less probable than this is in doubt.
DOUBT = 0.5


class MentionsSettings(Section):
    """The keys of `brido.checkers.mentions`."""

    case_sensitive: bool = Field(
        True, description='Whether "Paris" and "PARIS" differ, in documents without facts.'
    )


class MiniCheckModel(Section):
    """The keys of a MiniCheck model."""

    model: str = Field(
        "lytang/MiniCheck-Flan-T5-Large",
        description="Hub id or folder of a MiniCheck T5, DeBERTa or RoBERTa.",
    )
    revision: str | None = Field(None, description="Hub commit, tag or branch; null: main.")


class _Support(Variant):
    """`support` with any checker; runs_model: whether it needs a device."""

    chooser = "checker"
    runs_model: ClassVar[bool] = False

    checker: str = Field(
        description="mentions (names and numbers; on the world its facts) | minicheck (a model)."
    )


class MentionsSupport(_Support, MentionsSettings):
    """`support` by names and numbers that the source has (the world's facts, where it has them)."""

    checker: Literal["mentions"] = inherited(_Support, "checker", "mentions")


class MiniCheckSupport(_Support, MiniCheckModel):
    """`support` by a MiniCheck model."""

    runs_model = True

    checker: Literal["minicheck"] = inherited(_Support, "checker")


# `support`: the checker of the candidates.
SupportSettings = Annotated[
    MentionsSupport | MiniCheckSupport,
    Field(discriminator="checker"),
    choose_by_default("checker", "mentions"),
]
