"""How many mentions of a summary its source supports (`brido.checkers.mentions` finds them)."""

from typing import Any

from pydantic import Field

from brido.checkers.mentions import Mention, text_mentions, world_mentions
from brido.evaluation import Evaluation, Inputs, Metric, by_document, share
from brido.settings.base import Section
from brido.utils.progress import MakeProgress


class MentionsSettings(Section):
    """`evaluation.mentions`."""

    case_sensitive: bool = Field(
        True, description='Whether "Paris" and "PARIS" differ, in documents without facts.'
    )


def find_mentions(
    document: str, summary: str, facts: list[dict[str, Any]] | None, settings: MentionsSettings
) -> list[Mention]:
    """The mentions of a summary that the metric counts; `facts` are those of the world, if any."""
    if facts is not None:
        return world_mentions(summary, facts)
    return text_mentions(document, summary, settings.case_sensitive)


def evaluate(inputs: Inputs, settings: MentionsSettings, progress: MakeProgress) -> Evaluation:
    """precision (share of a summary's mentions that the source has; None where it makes none) and
    unsupported (1 where at least one is missing from the source, else 0) of every summary."""
    facts = inputs.facts

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        own = None if facts is None else list(facts[index])
        found = find_mentions(inputs.documents[index], inputs.summaries[index], own, settings)
        supported = [each.supported for each in found]
        row = {
            "precision": sum(supported) / len(supported) if supported else None,
            "unsupported": float(not all(supported)),
        }
        keys = ("type", "text", "supported")
        return row, {"mentions": [dict(zip(keys, each, strict=False)) for each in found]}

    exact = facts is not None
    signature = {
        "implementation": "facts of the world, exact"
        if exact
        else "numbers and capitalised spans, approximate",
        "idea": "Nan et al. 2021",
        "case_sensitive": True if exact else settings.case_sensitive,
    }
    return by_document("mentions", inputs, progress, measure, signature)


METRIC = Metric(
    name="mentions",
    label="Mentions",
    columns=(
        share("precision", "supported mentions"),
        share("unsupported", better="lower", headline=True),
    ),
    evaluate=evaluate,
    settings=MentionsSettings,
)
