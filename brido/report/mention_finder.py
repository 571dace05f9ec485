"""The mentions of candidates and summaries, found by the metric that also counts them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.evaluation import Inputs
from brido.evaluation import mentions as metric
from brido.progress import Progress
from brido.report.validation import Case
from brido.report.votes import Mention
from brido.settings import Params


@dataclass(frozen=True)
class CaseMentions:
    """The mentions of one document: per candidate, and per system's summary."""

    candidates: list[list[Mention]]
    summaries: dict[str, list[Mention]]


def find_mentions(cases: Sequence[Case], params: Params) -> list[CaseMentions]:
    """The mentions of every candidate and summary of `cases`, aligned with them.

    They come from brido.evaluation.mentions, so the page marks what the metric counts: exact on
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

    def progress(label: str, total: int | None, unit: str = "summaries") -> Progress:
        return Progress(label, total, unit, params.runtime.log_seconds)

    found = metric.evaluate(inputs, params.evaluation.mentions, Path(), progress)
    details: Iterator[Any] = iter(found.details)
    result = []
    for case in cases:
        candidates = [_mentions(next(details)) for _ in case.candidates]
        result.append(
            CaseMentions(candidates, {name: _mentions(next(details)) for name in case.summaries})
        )
    return result


def _spread(values: Sequence[Any], repeats: Sequence[int]) -> list[Any]:
    return [value for value, count in zip(values, repeats, strict=True) for _ in range(count)]


def _mentions(detail: Any) -> list[Mention]:
    return [
        Mention(item["start"], item["end"], item["type"], item["supported"])
        for item in detail["mentions"]
    ]
