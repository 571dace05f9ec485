"""Section support: which checker says how much of a text its source supports."""

from typing import Annotated, Literal

from pydantic import Field

from brido.utils.sections import Section, Variant, choose_by_default, inherited


class MiniCheckModel(Section):
    """The keys of a MiniCheck model."""

    model: str = Field(
        "lytang/MiniCheck-Flan-T5-Large",
        description="Hub id or folder of a MiniCheck T5, DeBERTa or RoBERTa.",
    )
    revision: str | None = Field(None, description="Hub commit, tag or branch; null: main.")


class _Support(Variant):
    """`support` with any checker."""

    chooser = "checker"

    checker: str = Field(
        description="mentions (names and numbers; on the world its facts) | minicheck (a model)."
    )


class MentionsSupport(_Support):
    """`support` by names and numbers that the source has (the world's facts, where it has them)."""

    checker: Literal["mentions"] = inherited(_Support, "checker", "mentions")
    case_sensitive: bool = Field(
        True, description='Whether "Paris" and "PARIS" differ, in documents without facts.'
    )


class MiniCheckSupport(_Support, MiniCheckModel):
    """`support` by a MiniCheck model."""

    checker: Literal["minicheck"] = inherited(_Support, "checker")


# `support`: the checker of the candidates.
SupportSettings = Annotated[
    MentionsSupport | MiniCheckSupport,
    Field(discriminator="checker"),
    choose_by_default("checker", "mentions"),
]
