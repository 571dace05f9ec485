"""How many mentions of a summary its source supports (`brido.checkers.mentions` finds them)."""

from collections.abc import Callable

from brido.checkers.mentions import Found, text_mentions, world_mentions
from brido.evaluation import Evaluation, Inputs, Metric, share
from brido.settings.base import Section
from brido.utils.progress import MakeProgress


class MentionsSettings(Section):
    """`evaluation.mentions`."""

    case_sensitive: bool = True


def evaluate(inputs: Inputs, settings: MentionsSettings, progress: MakeProgress) -> Evaluation:
    """precision (share of a summary's mentions that the source has; None where it makes none) and
    unsupported (1 where at least one is missing from the source, else 0) of every summary."""
    find = _finder(inputs, settings)
    rows: list[dict[str, float | None]] = []
    details = []
    with progress("mentions", len(inputs.ids), "documents") as bar:
        for index in range(len(inputs.ids)):
            found = find(index)
            supported = [each[2] for each in found]
            rows.append(
                {
                    "precision": sum(supported) / len(supported) if supported else None,
                    "unsupported": float(not all(supported)),
                }
            )
            keys = ("type", "text", "supported")
            details.append({"mentions": [dict(zip(keys, each, strict=True)) for each in found]})
            bar.advance()
    exact = inputs.facts is not None
    signature = {
        "implementation": "facts of the world, exact"
        if exact
        else "numbers and capitalised spans, approximate",
        "idea": "Nan et al. 2021",
        "case_sensitive": True if exact else settings.case_sensitive,
    }
    return Evaluation(rows, details, signature)


def _finder(inputs: Inputs, settings: MentionsSettings) -> Callable[[int], list[Found]]:
    if inputs.facts is not None:
        facts = inputs.facts
        return lambda index: world_mentions(inputs.summaries[index], list(facts[index]))
    return lambda index: text_mentions(
        inputs.documents[index], inputs.summaries[index], settings.case_sensitive
    )


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
