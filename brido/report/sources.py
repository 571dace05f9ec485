"""The sources of candidates compared: who wrote what, who is elected, who is like whom."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brido.report.stored import read_json
from brido.tables import CANDIDATES, GROUPED_CANDIDATES, open_table, read_columns
from brido.tables.documents import CandidateDocument

_LIKENESS = ("distinct", "alike", "agreement", "within_groups", "between_groups")


def compare(
    cases: Sequence[CandidateDocument], counts: Path, candidates: Mapping[str, Path]
) -> dict[str, dict[str, Any]]:
    """What is true of each source on the validation documents, by its name.

    counts: what stage pool counted (pool/counts.json); candidates: each source's table.

    candidates, and how many of them were cleaned, not_ended, or without_vote; other_script and
    markup_left as the pool counted them, left-out documents included; elected: share of the
    documents whose first candidate in the run's order is of this source; distinct: different texts
    of a document; alike: mean similarity of its candidates of a document with each other;
    agreement: with the candidates of the other sources; within_groups and between_groups: alike, of
    two candidates that one group of beams wrote, and of two that two groups wrote. Means are over
    documents and candidates that vote; None where there are no two candidates to compare.

    Raises:
        BridoError: a table is missing or damaged.
    """
    odd = read_json(counts, "pool")["validation"]["sources"]
    groups = {name: _groups(path, name) for name, path in candidates.items()}
    numbers: dict[str, dict[str, int]] = {}
    means: dict[str, dict[str, list[float]]] = {}
    elected: dict[str, int] = defaultdict(int)
    for case in cases:
        elected[str(case.sources[case.order[0]])] += 1
        for name in dict.fromkeys(map(str, case.sources)):
            _count(numbers.setdefault(name, defaultdict(int)), case, name)
            writers = groups.get(name, {}).get(case.id)
            _measure(means.setdefault(name, defaultdict(list)), case, name, writers)
    return {
        name: {
            **count,
            **{key: odd.get(name, {}).get(key, 0) for key in ("other_script", "markup_left")},
            "elected": elected[name] / len(cases),
            **{key: _mean(means[name][key]) for key in _LIKENESS},
        }
        for name, count in numbers.items()
    }


def _groups(path: Path, source: str) -> dict[str, list[int]]:
    """Of each document the groups of beams that wrote a source's candidates; {} without groups."""
    made_by = f"generate@{source}"
    with open_table(path, CANDIDATES, made_by) as file:
        if "groups" not in file.schema_arrow.names:
            return {}
    rows = read_columns(path, GROUPED_CANDIDATES, made_by, ["id", "groups"])
    return dict(zip(*(rows.column(name).to_pylist() for name in rows.column_names), strict=True))


def _count(count: dict[str, int], case: CandidateDocument, source: str) -> None:
    for place, name in enumerate(case.sources):
        if name != source:
            continue
        count["candidates"] += 1
        count["cleaned"] += " ".join(case.raw[place].split()) != case.candidates[place]
        count["not_ended"] += not case.ended[place]
        count["without_vote"] += not case.voters[place]


def _measure(
    means: dict[str, list[float]], case: CandidateDocument, source: str, groups: list[int] | None
) -> None:
    own, voters = np.array(case.sources) == source, np.array(case.voters)
    mine, others = np.flatnonzero(own & voters), np.flatnonzero(~own & voters)
    means["distinct"].append(len(set(np.array(case.candidates)[mine])))
    assert case.similarity is not None
    each, pairs = case.similarity[np.ix_(mine, mine)], ~np.eye(len(mine), dtype=bool)
    found = {"alike": each[pairs], "agreement": case.similarity[np.ix_(mine, others)]}
    if groups is not None:
        wrote = np.array(groups)[voters[own]]
        same = wrote[:, None] == wrote
        found |= {"within_groups": each[pairs & same], "between_groups": each[~same]}
    for name, values in found.items():
        if values.size:
            means[name].append(float(values.mean(dtype=np.float64)))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


_COUNTS = {
    "candidates": "candidates",
    "cleaned": "cleaned",
    "not_ended": "not ended",
    "other_script": "other script",
    "markup_left": "markup",
}
_MEANS = ("alike", "agreement")
_GROUPS = ("within_groups", "between_groups")


def sources_rows(table: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The table in words: a heading, then a row a source.

    Where no group wrote two candidates, those of different groups are all there are: `alike` says
    everything.
    """
    grouped = any(found.get("within_groups") is not None for found in table.values())
    means = [*_MEANS, *(_GROUPS if grouped else ())]
    names = [name.replace("_", " ") for name in means]
    rows = [["source", *_COUNTS.values(), "elected", "distinct", *names]]
    for name, found in table.items():
        # Tables of an older version lack some.
        numbers = [f"{found.get(key, 0):,}" for key in _COUNTS]
        numbers += [f"{100 * found['elected']:.1f} %", f"{found['distinct'] or 0:.1f}"]
        numbers += ["-" if (it := found.get(key)) is None else f"{it:.3f}" for key in means]
        rows.append([name, *numbers])
    return rows
