"""The table of sources against sums written out."""

import math
from math import nan

import numpy as np
import pytest
from report_cases import made_case

from brido.report.sources import LEGEND, compare, sources_rows
from brido.report.summary import aligned

SOURCES = ["one", "one", "one", "two", "two"]
# Of the second document the third candidate has no vote, and no score.
VOTERS = [[0, 1, 2, 3, 4], [0, 1, 3, 4]]
SCORES = [[0.1, 0.2, 0.3, 0.5, 0.4], [0.1, 0.9, nan, 0.5, 0.2]]


@pytest.fixture
def run():
    """Two documents."""
    matrices = np.random.default_rng(0).random((2, 5, 6)).astype(np.float32)
    texts = {"a": ["a", "b", "a", "c", "c"], "b": ["d", "e", "f", "b", "h"]}
    cases = []
    for (name, own), scores, voting, matrix in zip(
        texts.items(), SCORES, VOTERS, matrices, strict=True
    ):
        raw = [f"Summary:  {text}" if text == "b" else f" {text}\n" for text in own]
        flags = [place in voting for place in range(5)]
        cases.append(
            made_case(
                scores, id=name, candidates=own, raw=raw, sources=SOURCES, voters=flags,
                ended=flags, similarity=matrix,
            )
        )  # fmt: skip
    return cases


def test_what_is_counted(run):
    found = compare(run)
    # Of the first document `two` has the best score, of the second `one`.
    assert [found[name]["elected"] for name in ("one", "two")] == [1 / 2, 1 / 2]
    counts = ("candidates", "cleaned", "not_ended", "without_vote", "distinct")
    assert [found["one"][key] for key in counts] == [6, 1, 1, 1, 2]
    assert [found["two"][key] for key in counts] == [4, 1, 0, 0, 1.5]


@pytest.mark.parametrize("seed", range(5))
def test_likeness_of_many_pools_by_loops(seed):
    """Every mean of every source against sums over pairs in plain Python."""
    random = np.random.default_rng(seed)
    sizes = {f"s{n}": int(size) for n, size in enumerate(random.integers(1, 6, 3))}
    owners = [name for name, size in sizes.items() for _ in range(size)]
    count, ids = len(owners), [f"d{n}" for n in range(7)]
    matrices = random.random((len(ids), count, count + 1)).astype(np.float32)
    voting = random.random((len(ids), count)) < 0.7
    voting[:, 0] = True
    texts = [[str(n) for n in row] for row in random.integers(0, 4, (len(ids), count))]
    cases = [
        made_case(
            np.where(flags, 0.5, nan), id=key, candidates=own, raw=own, sources=owners,
            voters=flags.tolist(), similarity=matrix,
        )
        for key, own, flags, matrix in zip(ids, texts, voting, matrices, strict=True)
    ]  # fmt: skip
    found = compare(cases)
    for name in sizes:
        sums = {key: [] for key in ("alike", "agreement")}
        for place, matrix in enumerate(matrices.astype(float)):
            pairs = {key: [] for key in sums}
            for i in range(count):
                for j in range(count):
                    if i == j or owners[i] != name or not (voting[place, i] and voting[place, j]):
                        continue
                    key = "alike" if owners[j] == name else "agreement"
                    pairs[key].append(matrix[i, j])
            for key, values in pairs.items():
                if values:
                    sums[key].append(math.fsum(values) / len(values))
        for key, values in sums.items():
            expected = math.fsum(values) / len(values) if values else None
            assert found[name][key] == (expected if expected is None else pytest.approx(expected))


def test_the_table_in_words(run):
    table = compare(run)
    text = aligned(sources_rows(table))
    assert text.splitlines()[0].split() == [
        "source", "candidates", "cleaned", "not", "ended", "elected", "distinct", "alike",
        "agreement",
    ]  # fmt: skip
    assert text.splitlines()[-2].split()[:6] == ["one", "6", "1", "1", "50.0", "%"]
    # A single source has nobody to agree with.
    alone = {"two": table["two"] | {"agreement": None, "alike": None}}
    assert sources_rows(alone)[1][-2:] == ["–", "–"]
    # Every column but the names and numbers of candidates is explained.
    heads = {line.partition(":")[0].lower() for line in LEGEND[1:]}
    assert heads == {*sources_rows(table)[0][2:]}
