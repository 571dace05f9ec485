"""The sources of candidates compared: who is elected, who is like whom."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brido.tables.documents import CandidateDocument

# What the columns of the table mean.
LEGEND = (
    "The table counts test documents (validation documents if these have no candidates).",
    "Elected: share of documents whose first candidate in the run's order is of this source.",
    "Distinct: different texts of a document, on average.",
    "Alike: mean similarity (0 to 1) of a source's candidates of one document with each other.",
    "Agreement: the same with the candidates of other sources. A dash: there is no other source.",
)


def compare(cases: Sequence[CandidateDocument]) -> dict[str, dict[str, float | None]]:
    """What is true of each source on the documents of a split, by its name.

    elected: share of the documents whose first candidate in the run's order is of this source;
    distinct: different texts of a document; alike: mean similarity of its candidates of a document
    with each other; agreement: with the candidates of the other sources. Means are over documents
    and candidates that vote; None where there are no two candidates to compare.
    """
    names = dict.fromkeys(str(name) for case in cases for name in case.sources)
    return {name: _compare(cases, name) for name in names}


def _compare(cases: Sequence[CandidateDocument], name: str) -> dict[str, float | None]:
    found: dict[str, list[float]] = {"elected": [], "distinct": [], "alike": [], "agreement": []}
    for case in cases:
        own, voters = np.array(case.sources) == name, np.array(case.voters)
        found["elected"].append(float(own[case.order[0]]))
        if not own.any():
            continue
        mine, others = np.flatnonzero(own & voters), np.flatnonzero(~own & voters)
        found["distinct"].append(len(set(np.array(case.candidates)[mine])))
        assert case.similarity is not None
        each = case.similarity[np.ix_(mine, mine)][~np.eye(len(mine), dtype=bool)]
        for key, values in (("alike", each), ("agreement", case.similarity[np.ix_(mine, others)])):
            if values.size:
                found[key].append(float(values.mean(dtype=np.float64)))
    return {key: float(np.mean(values)) if values else None for key, values in found.items()}


def sources_rows(table: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The table in words: a heading, then a row a source."""
    rows = [["source", "elected", "distinct", "alike", "agreement"]]
    for name, found in table.items():
        shown = [f"{100 * found['elected']:.1f} %", f"{found['distinct'] or 0:.1f}"]
        likeness = (found[key] for key in ("alike", "agreement"))
        rows.append([name, *shown, *("–" if it is None else f"{it:.3f}" for it in likeness)])
    return rows
