"""Section support: which checker says how much of a text its source supports."""

from typing import Annotated, Literal

from pydantic import Field

from brido.settings.base import Section, Variant, choose_by_default


class MiniCheckModel(Section):
    """The keys of a MiniCheck model."""

    model: str = "lytang/MiniCheck-Flan-T5-Large"
    revision: str | None = None


class MentionsSupport(Variant):
    """`support` by names and numbers that the source has (the world's facts, where it has them)."""

    chooser = "checker"

    checker: Literal["mentions"] = "mentions"
    case_sensitive: bool = True


class MiniCheckSupport(Variant, MiniCheckModel):
    """`support` by a MiniCheck model."""

    chooser = "checker"

    checker: Literal["minicheck"]


# `support`: the checker of the candidates.
SupportSettings = Annotated[
    MentionsSupport | MiniCheckSupport,
    Field(discriminator="checker"),
    choose_by_default("checker", "mentions"),
]
