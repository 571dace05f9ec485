"""How many mentions of a summary its source supports (`brido.checkers.mentions` finds them).

On texts that are not the world's it also says which summaries are good: whole, by stated rules, and
without an unsupported mention.
"""

from typing import Any

from pydantic import Field

from brido.checkers.mentions import mentions_of
from brido.checkers.wholeness import RULES, whole_by_rules
from brido.evaluation import Column, Evaluation, Inputs, Metric, by_document, share
from brido.utils.progress import MakeProgress
from brido.utils.sections import Section


class MentionsSettings(Section):
    """`evaluation.mentions`."""

    case_sensitive: bool = Field(
        True, description='Whether "Paris" and "PARIS" differ, in documents without facts.'
    )


def evaluate(inputs: Inputs, settings: MentionsSettings, progress: MakeProgress) -> Evaluation:
    """precision, unsupported, checked, details; whole and good where there are no facts.

    precision: share of its mentions that the source has; None where it makes none. unsupported: 1
    where at least one is missing from the source, else 0. checked: 1 where it makes a mention at
    all, else 0: of other summaries this metric sees nothing. details: how many it makes. whole: 1
    for a whole text by the rules of `brido.checkers.wholeness`, else 0, an approximation; good: 1
    for a whole text without an unsupported mention, else 0. On the world both are None: world_judge
    knows its grammar.
    """
    facts = inputs.facts

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        own = None if facts is None else list(facts[index])
        summary = inputs.summaries[index]
        found = mentions_of(inputs.documents[index], summary, own, settings.case_sensitive)
        supported = [each.supported for each in found]
        row: dict[str, float | None] = {
            "precision": sum(supported) / len(supported) if supported else None,
            "unsupported": float(not all(supported)),
            "checked": float(bool(supported)),
            "details": float(len(supported)),
            "whole": None,
            "good": None,
        }
        if facts is None:
            reference = next(iter(inputs.references[index]), None)
            whole = whole_by_rules(summary, reference, inputs.documents[index])
            row |= {"whole": float(whole), "good": float(whole and all(supported))}
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
    if not exact:
        signature["good"] = f"approximate; {RULES}"
    return by_document("mentions", inputs, progress, measure, signature)


METRIC = Metric(
    name="mentions",
    label="Mentions",
    columns=(
        share("precision", "supported mentions"),
        share("unsupported", better="lower", headline=True),
        share("checked", "with something to check", better="neither"),
        Column("details", "details a text", better="neither", digits=1),
        share("whole", "whole, approximate"),
        share("good", "good, approximate", headline=True),
    ),
    evaluate=evaluate,
    settings=MentionsSettings,
    chooses=True,
    by_default=True,
)
