"""The mentions of candidates and summaries, found by the metric that also counts them."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation import Inputs
from brido.evaluation.mentions import METRIC
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument
from brido.utils.progress import Progress


@dataclass(frozen=True)
class Mention:
    """A checkable span of a summary: text[start:end], its kind, whether the source supports it."""

    start: int
    end: int
    kind: str
    supported: bool


@dataclass(frozen=True)
class CaseMentions:
    """The mentions of one document: per candidate, and per system's summary."""

    candidates: list[list[Mention]]
    summaries: dict[str, list[Mention]]


def find_mentions(cases: Sequence[CandidateDocument], params: Params) -> list[CaseMentions]:
    """The mentions of every candidate and summary of `cases`, aligned with them.

    They come from the metric `mentions`, so the page marks what the metric counts: exact on
    the embedded world, numbers and capitalised spans elsewhere.
    """
    texts = [[*case.candidates, *case.summaries.values()] for case in cases]
    repeats = [len(items) for items in texts]
    known = all(case.facts is not None for case in cases)
    inputs = Inputs(
        ids=_spread([case.id for case in cases], repeats),
        documents=_spread([case.document for case in cases], repeats),
        summaries=[text for items in texts for text in items],
        references=_spread([case.references for case in cases], repeats),
        facts=_spread([case.facts for case in cases], repeats) if known else None,
    )

    progress = functools.partial(Progress, interval=params.runtime.log_seconds)
    found = METRIC.measure(inputs, params.evaluation.mentions, progress)
    marked = (
        located(text, detail["mentions"], known)
        for text, detail in zip(inputs.summaries, found.details, strict=True)
    )
    return [
        CaseMentions(
            [next(marked) for _ in case.candidates],
            {name: next(marked) for name in case.summaries},
        )
        for case in cases
    ]


def _spread(values: Sequence[Any], repeats: Sequence[int]) -> list[Any]:
    return [value for value, count in zip(values, repeats, strict=True) for _ in range(count)]


def located(text: str, found: Sequence[Mapping[str, Any]], world: bool) -> list[Mention]:
    """The metric's mentions (type, text, supported) of a summary, with their places in it.

    The metric names them in the order of the text, type by type at least, so each is looked for
    behind the one before of its type. One that cannot be found (its words were changed) stands at
    0..0: it counts, but is not marked. `world` says that mentions are whole words, as there.
    """
    behind: dict[str, int] = {}
    result = []
    for item in found:
        hit = _pattern(item["text"], world).search(text, behind.get(item["type"], 0))
        start, end = hit.span() if hit else (0, 0)
        if hit:
            behind[item["type"]] = end
        result.append(Mention(start, end, item["type"], item["supported"]))
    return result


@functools.lru_cache(maxsize=4096)
def _pattern(words: str, world: bool) -> re.Pattern[str]:
    """The words as they may stand in a text: any space between, possessives left out."""
    inner = r"(?:['’]s)?\s+".join(re.escape(word) for word in words.split())
    if words[0].isdigit() and not world:
        # Every digit of the text belongs to a number: the next digits are the next number.
        return re.compile(inner)
    return re.compile(rf"(?<![\w£]){inner}(?!\w)")
