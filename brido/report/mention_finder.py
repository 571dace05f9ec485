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
    result = []
    how = params.evaluation.mentions
    with Progress("mentions", len(cases), "documents", params.runtime.log_seconds) as progress:
        for case in cases:
            texts = [*case.candidates, *case.summaries.values()]
            count, known = len(texts), case.facts is not None
            facts = [case.facts] * count if case.facts is not None else None
            inputs = Inputs(
                [case.id] * count, [case.document] * count, texts, [case.references] * count, facts
            )  # fmt: skip
            details = METRIC.measure(inputs, how).details
            marked = [
                located(text, detail["mentions"], known)
                for text, detail in zip(texts, details, strict=True)
            ]
            own = len(case.candidates)
            summaries = dict(zip(case.summaries, marked[own:], strict=True))
            result.append(CaseMentions(marked[:own], summaries))
            progress.advance()
    return result


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
