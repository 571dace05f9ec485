"""How many mentions of a summary its source supports (`brido.checkers.mentions` finds them).

On texts that are not the world's it also says which summaries are good: whole, by stated rules, and
without an unsupported mention. What is unsupported is counted by kind: names, numbers, dates, and
on the world its planted phrase ("on Monday") apart from all others.
"""

import re
from typing import Any, Literal

from pydantic import Field

from brido.checkers.mentions import Mention, mentions_of
from brido.checkers.settings import MentionsSettings
from brido.checkers.wholeness import REASONS, RULES, why_not_whole
from brido.evaluation import Column, Evaluation, Inputs, Metric, Support, by_document, share
from brido.utils.progress import MakeProgress
from brido.world import lexicon

Kind = Literal["names", "numbers", "dates"]
_WORLD_KINDS: dict[str, Kind] = {
    **dict.fromkeys((lexicon.AGE, lexicon.NUMBER, lexicon.AMOUNT), "numbers"),
    lexicon.DAY: "dates",
}
# A column for each reason why a text is not whole.
_BROKEN = {reason: reason.replace(" ", "_") for reason in REASONS}
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_ANY_MONTH = rf"(?:{_MONTH}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
# What a date or a time looks like in English: 05/12/2011, May 5th, 5 May, Monday, 1987, 3 pm.
_DATE = re.compile(
    rf"""\b\d{{1,4}}([/.-])\d{{1,2}}\1\d{{1,4}}\b
    | \b{_ANY_MONTH}\b\.?\ {_DAY}\b
    | \b{_DAY}\ (?:of\ )?{_ANY_MONTH}\b
    | \b(?:{_MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b
    | \b\d{{1,2}}(?::\d\d|(?:\.\d\d)?\ ?[ap]\.?m\b)
    | (?<![\w.,:])(?:1\d|20)\d\ds?\b(?![.,:]?\d)""",
    re.VERBOSE,
)


class MentionsSection(MentionsSettings):
    """`evaluation.mentions`."""

    facts: bool = Field(
        True,
        description="On the world: whether its facts count, which are exact; false: as elsewhere.",
    )


def evaluate(inputs: Inputs, settings: MentionsSection, progress: MakeProgress) -> Evaluation:
    """The columns of docs/metrics.md for every summary, details its mentions.

    precision is None where a summary makes no mention, planted and other are None without facts.
    With facts whole, why it is not, and good are None: world_judge knows the world's grammar.
    """
    facts = inputs.facts if settings.facts else None
    exact = facts is not None

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        own = None if facts is None else list(facts[index])
        summary = inputs.summaries[index]
        found = mentions_of(inputs.documents[index], summary, own, settings.case_sensitive)
        supported = [each.supported for each in found]
        row: dict[str, float | None] = {
            "precision": sum(supported) / len(supported) if supported else None,
            "unsupported": float(not all(supported)),
            **_by_kind(found, summary, exact),
            "checked": float(bool(supported)),
            "details": float(len(supported)),
            "whole": None,
            **dict.fromkeys(_BROKEN.values()),
            "good": None,
        }
        if facts is None:
            reference = next(iter(inputs.references[index]), None)
            why = why_not_whole(summary, reference, None, inputs.documents[index])
            row |= {column: float(why == reason) for reason, column in _BROKEN.items()}
            row |= {"whole": float(not why), "good": float(not why and all(supported))}
        keys = ("type", "text", "supported")
        return row, {"mentions": [dict(zip(keys, each, strict=False)) for each in found]}

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


def kinds_of(mentions: list[Mention], text: str, exact: bool) -> list[Kind]:
    """What kind of thing each mention of `text` is: exact on the world, by English rules elsewhere.

    On the world ages, numbers and sums are numbers, days dates, all else names. Elsewhere a mention
    inside a date or a time is a date: a weekday, a month, 5 May, 05/12/2011, 3 pm, or four digits
    alone that may be a year.

    Example:
        >>> from brido.checkers.mentions import text_mentions
        >>> text = "They met Ann at 3 pm on Friday, for 20 minutes."
        >>> found = text_mentions("", text, True)
        >>> [(one.text, kind) for one, kind in zip(found, kinds_of(found, text, False))]
        [('3', 'dates'), ('20', 'numbers'), ('Ann', 'names'), ('Friday', 'dates')]
    """
    if exact:
        return [_WORLD_KINDS.get(mention.type, "names") for mention in mentions]
    ends = {place: hit.end() for hit in _DATE.finditer(text) for place in range(*hit.span())}
    return [
        "dates"
        if mention.end <= ends.get(mention.start, -1)
        else "names"
        if mention.type == "name"
        else "numbers"
        for mention in mentions
    ]


def _by_kind(found: list[Mention], summary: str, exact: bool) -> dict[str, float | None]:
    missing = [mention for mention in found if not mention.supported]
    kinds = kinds_of(missing, summary, exact)
    planted = [lexicon.FAVOURITES.get(mention.type) == mention.text for mention in missing]
    return {
        **{kind: float(kind in kinds) for kind in ("names", "numbers", "dates")},
        "planted": float(any(planted)) if exact else None,
        "other": float(not all(planted)) if exact else None,
    }


METRIC = Metric(
    name="mentions",
    label="Mentions",
    columns=(
        share("precision", "supported mentions"),
        share("unsupported", better="lower", headline=True),
        share("names", "unsupported names", better="lower"),
        share("numbers", "unsupported numbers", better="lower"),
        share("dates", "unsupported dates", better="lower"),
        share("planted", "unsupported planted day", better="lower"),
        share("other", "unsupported but the planted day", better="lower"),
        share("checked", "with something to check", better="neither"),
        Column("details", "details a text", better="neither", digits=1),
        share("whole", "whole, approximate"),
        *(share(column, better="lower") for column in _BROKEN.values()),
        share("good", "good, approximate", headline=True),
    ),
    evaluate=evaluate,
    settings=MentionsSection,
    chooses=True,
    support=Support("unsupported", threshold=0.0, whole="whole"),
)
