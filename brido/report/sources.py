"""The sources of candidates compared: who wrote what, who is elected, who is like whom."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brido.tables.documents import CandidateDocument

_LIKENESS = ("distinct", "alike", "agreement")


def compare(cases: Sequence[CandidateDocument]) -> dict[str, dict[str, Any]]:
    """What is true of each source on the documents of a split, by its name.

    candidates, and how many of them were cleaned, not_ended, or without_vote; elected: share of the
    documents whose first candidate in the run's order is of this source; distinct: different texts
    of a document; alike: mean similarity of its candidates of a document with each other;
    agreement: with the candidates of the other sources. Means are over documents and candidates
    that vote; None where there are no two candidates to compare.
    """
    numbers: dict[str, dict[str, int]] = {}
    means: dict[str, dict[str, list[float]]] = {}
    elected: dict[str, int] = defaultdict(int)
    for case in cases:
        elected[str(case.sources[case.order[0]])] += 1
        for name in dict.fromkeys(map(str, case.sources)):
            _count(numbers.setdefault(name, defaultdict(int)), case, name)
            _measure(means.setdefault(name, defaultdict(list)), case, name)
    return {
        name: {
            **count,
            "elected": elected[name] / len(cases),
            **{key: _mean(means[name][key]) for key in _LIKENESS},
        }
        for name, count in numbers.items()
    }


def _count(count: dict[str, int], case: CandidateDocument, source: str) -> None:
    for place, name in enumerate(case.sources):
        if name != source:
            continue
        count["candidates"] += 1
        count["cleaned"] += " ".join(case.raw[place].split()) != case.candidates[place]
        count["not_ended"] += not case.ended[place]
        count["without_vote"] += not case.voters[place]


def _measure(means: dict[str, list[float]], case: CandidateDocument, source: str) -> None:
    own, voters = np.array(case.sources) == source, np.array(case.voters)
    mine, others = np.flatnonzero(own & voters), np.flatnonzero(~own & voters)
    means["distinct"].append(len(set(np.array(case.candidates)[mine])))
    assert case.similarity is not None
    each = case.similarity[np.ix_(mine, mine)][~np.eye(len(mine), dtype=bool)]
    found = {"alike": each, "agreement": case.similarity[np.ix_(mine, others)]}
    for name, values in found.items():
        if values.size:
            means[name].append(float(values.mean(dtype=np.float64)))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


_COUNTS = {
    "candidates": "candidates",
    "cleaned": "cleaned",
    "not_ended": "not ended",
}
_MEANS = ("alike", "agreement")
# What the columns of the table mean.
LEGEND = (
    "The table counts test documents (validation documents if these have no candidates).",
    "Cleaned: candidates from which stage pool took something off, such as a preamble.",
    "Not ended: candidates that were cut at the length limit. They do not vote.",
    "Elected: share of documents whose first candidate in the run's order is of this source.",
    "Distinct: different texts of a document, on average.",
    "Alike: mean similarity (0 to 1) of a source's candidates of one document with each other.",
    "Agreement: the same with the candidates of other sources. A dash: there is no other source.",
)


def sources_rows(table: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The table in words: a heading, then a row a source."""
    rows = [["source", *_COUNTS.values(), "elected", "distinct", *_MEANS]]
    for name, found in table.items():
        numbers = [f"{found[key]:,}" for key in _COUNTS]
        numbers += [f"{100 * found['elected']:.1f} %", f"{found['distinct'] or 0:.1f}"]
        numbers += ["–" if (it := found[key]) is None else f"{it:.3f}" for key in _MEANS]
        rows.append([name, *numbers])
    return rows
