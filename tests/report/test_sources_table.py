"""The table of sources against sums written out."""

import math
from math import nan

import numpy as np
import pytest
from report_cases import made_case

from brido.report.sources import compare, sources_rows


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


def test_who_is_elected_and_the_table_in_words():
    """Of the first document `two` has the best score, of the second `one`."""
    cases = [
        made_case(scores, candidates=["a", "b", "a", "c"], sources=["one", "one", "one", "two"])
        for scores in ([0.1, 0.2, 0.3, 0.5], [0.1, 0.9, nan, 0.5])
    ]
    assert sources_rows(compare(cases)) == [
        ["source", "elected", "distinct", "alike", "agreement"],
        ["one", "50.0 %", "2.0", "0.000", "0.000"],
        ["two", "50.0 %", "1.0", "–", "0.000"],
    ]
