"""The table of sources against sums written out."""

import json
import math

import numpy as np
import pytest

from brido.report.sources import (
    SourceTables,
    compare,
    sources_rows,
    sources_text,
    write_sources,
)
from brido.tables import CANDIDATES, GROUPED_CANDIDATES, POOL, similarity_schema, write_table
from brido.utils.errors import BridoError

SOURCES = ["one", "one", "one", "two", "two"]
# Those of `two` did not come from beams.
GROUPS = {"a": [0, 1, 0], "b": [2, 2, 0]}


def row(name, texts, voters=(True,) * 5, eligible=(True,) * 5, ended=(True,) * 5):
    return {
        "id": name,
        "candidates": texts,
        "raw": [f"Summary:  {text}" if text == "b" else f" {text}\n" for text in texts],
        "sources": SOURCES,
        "voters": list(voters),
        "eligible": list(eligible),
        "search_scores": [0.0] * 5,
        "ended": list(ended),
    }


@pytest.fixture
def tables(tmp_path):
    """A pool of two documents and its similarities, and these as arrays."""
    cut = (True, True, False, True, True)
    rows = [row("a", ["a", "b", "a", "c", "c"]), row("b", ["d", "e", "f", "b", "h"], cut, cut, cut)]
    matrices = np.random.default_rng(0).random((2, 5, 6)).astype(np.float32)
    write_table(tmp_path / "validation.parquet", [rows], POOL)
    write_similarity(tmp_path, ["a", "b"], matrices)
    for name, schema in (("one", GROUPED_CANDIDATES), ("two", CANDIDATES)):
        own = [
            {"id": key, "candidates": [], "search_scores": [], "ended": [], "groups": groups}
            for key, groups in [*GROUPS.items(), ("left out", [1])]
        ]
        write_table(tmp_path / f"{name}.parquet", [own], schema)
    odd = {"other_script": 3, "candidates": 9}
    counts = {"validation": {"sources": {"one": odd, "two": {"markup_left": 1}}, "left_out": []}}
    (tmp_path / "counts.json").write_text(json.dumps(counts))
    return tmp_path, matrices


def paths(folder):
    sources = {name: folder / f"{name}.parquet" for name in ("one", "two")}
    return SourceTables(
        folder / "validation.parquet",
        folder / "counts.json",
        folder / "similarity.parquet",
        sources,
    )


def write_similarity(folder, ids, matrices):
    rows = [
        {"id": name, "similarity": matrix.reshape(-1)}
        for name, matrix in zip(ids, matrices, strict=True)
    ]
    write_table(folder / "similarity.parquet", [rows], similarity_schema(5))


def test_every_number_is_the_one_written_out(tables):
    folder, matrices = tables
    found = compare(paths(folder), 0, "equation")
    voters = [[0, 1, 2, 3, 4], [0, 1, 3, 4]]
    elected = []
    for matrix, voting in zip(matrices.astype(float), voters, strict=True):
        scores = {
            i: sum(matrix[i, j] for j in voting if j != i) / (len(voting) - 1) for i in voting
        }
        elected.append(SOURCES[max(voting, key=scores.get)])
    for name in ("one", "two"):
        alike, agreement = [], []
        for matrix, voting in zip(matrices.astype(float), voters, strict=True):
            mine = [i for i in voting if SOURCES[i] == name]
            others = [i for i in voting if SOURCES[i] != name]
            pairs = [matrix[i, j] for i in mine for j in mine if i != j]
            alike.append(math.fsum(pairs) / len(pairs))
            pairs = [matrix[i, j] for i in mine for j in others]
            agreement.append(math.fsum(pairs) / len(pairs))
        assert found[name]["alike"] == pytest.approx(sum(alike) / 2, rel=1e-6)
        assert found[name]["agreement"] == pytest.approx(sum(agreement) / 2, rel=1e-6)
        assert found[name]["elected"] == elected.count(name) / 2
    counts = ("candidates", "cleaned", "not_ended", "without_vote", "distinct", "other_script")
    assert [found["one"][key] for key in counts] == [6, 1, 1, 1, 2, 3]
    assert [found["two"][key] for key in counts] == [4, 1, 0, 0, 1.5, 0]
    assert [found[name]["markup_left"] for name in ("one", "two")] == [0, 1]


def test_likeness_within_and_between_groups_is_the_one_written_out(tables):
    folder, matrices = tables
    found = compare(paths(folder), 0, "equation")
    first, second = matrices.astype(float)
    # Of the second document the third candidate has no vote.
    within = [(first[0, 2] + first[2, 0]) / 2, (second[0, 1] + second[1, 0]) / 2]
    between = [(first[0, 1] + first[1, 0] + first[1, 2] + first[2, 1]) / 4]
    assert found["one"]["within_groups"] == pytest.approx(sum(within) / 2)
    assert found["one"]["between_groups"] == pytest.approx(between[0])
    assert found["two"]["within_groups"] is found["two"]["between_groups"] is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_likeness_of_many_pools_by_loops(tmp_path, seed):
    """Every mean of every source against sums over pairs in plain Python."""
    random = np.random.default_rng(seed)
    sizes = {f"s{n}": int(size) for n, size in enumerate(random.integers(1, 6, 3))}
    owners = [name for name, size in sizes.items() for _ in range(size)]
    count, ids = len(owners), [f"d{n}" for n in range(7)]
    matrices = random.random((len(ids), count, count + 1)).astype(np.float32)
    voting = random.random((len(ids), count)) < 0.7
    voting[:, 0] = True
    texts = [[str(n) for n in row] for row in random.integers(0, 4, (len(ids), count))]
    groups = {name: random.integers(0, 3, (len(ids), size)) for name, size in sizes.items()}
    flat = np.concatenate(list(groups.values()), axis=1)
    rows = [
        {"id": key, "candidates": own, "raw": own, "sources": owners, "voters": flags,
         "eligible": flags, "search_scores": [0.0] * count, "ended": [True] * count}
        for key, own, flags in zip(ids, texts, voting.tolist(), strict=True)
    ]  # fmt: skip
    write_table(tmp_path / "validation.parquet", [rows], POOL)
    flat_rows = [
        {"id": key, "similarity": matrix.reshape(-1)}
        for key, matrix in zip(ids, matrices, strict=True)
    ]
    schema = similarity_schema(count)
    write_table(tmp_path / "similarity.parquet", [flat_rows], schema)
    for name, own in groups.items():
        found = [
            {"id": key, "candidates": [], "search_scores": [], "ended": [], "groups": line}
            for key, line in zip(ids, own.tolist(), strict=True)
        ]
        write_table(tmp_path / f"{name}.parquet", [found], GROUPED_CANDIDATES)
    (tmp_path / "counts.json").write_text('{"validation": {"sources": {}}}')
    tables = SourceTables(
        tmp_path / "validation.parquet", tmp_path / "counts.json", tmp_path / "similarity.parquet",
        {name: tmp_path / f"{name}.parquet" for name in sizes},
    )  # fmt: skip
    found = compare(tables, 0, "equation")
    for name in sizes:
        sums = {key: [] for key in ("alike", "agreement", "within_groups", "between_groups")}
        for place, matrix in enumerate(matrices.astype(float)):
            pairs = {key: [] for key in sums}
            for i in range(count):
                for j in range(count):
                    if i == j or owners[i] != name or not (voting[place, i] and voting[place, j]):
                        continue
                    if owners[j] != name:
                        pairs["agreement"].append(matrix[i, j])
                        continue
                    pairs["alike"].append(matrix[i, j])
                    same = flat[place, i] == flat[place, j]
                    pairs["within_groups" if same else "between_groups"].append(matrix[i, j])
            for key, values in pairs.items():
                if values:
                    sums[key].append(math.fsum(values) / len(values))
        for key, values in sums.items():
            expected = math.fsum(values) / len(values) if values else None
            assert found[name][key] == (expected if expected is None else pytest.approx(expected))


def test_the_table_in_words(tables):
    folder, _ = tables
    table = write_sources(folder / "sources.json", paths(folder), math.inf, "equation")
    assert json.loads((folder / "sources.json").read_text()) == table
    text = sources_text(folder / "sources.json")
    assert text.splitlines()[0].split() == [
        "source", "candidates", "cleaned", "not", "ended", "other", "script", "markup",
        "elected", "distinct", "alike", "agreement", "within", "groups", "between", "groups",
    ]  # fmt: skip
    one, two = text.splitlines()[1:]
    assert one.split()[:6] == ["one", "6", "1", "1", "3", "0"]
    assert two.split()[-2:] == ["-", "-"]
    # A single source has nobody to agree with; without groups there are no columns of them.
    alone = {"two": table["two"] | {"agreement": None, "alike": None}}
    assert sources_rows(alone)[0][-2:] == ["alike", "agreement"]
    assert sources_rows(alone)[1][-2:] == ["-", "-"]


def test_tables_of_other_documents_are_refused(tables):
    folder, matrices = tables
    for ids, kept in ((["b", "a"], matrices), (["a"], matrices[:1]), (["a", "b", "c"], None)):
        write_similarity(folder, ids, np.repeat(matrices[:1], 3, 0) if kept is None else kept)
        with pytest.raises(BridoError, match="other candidates than"):
            compare(paths(folder), 0, "equation")
    with pytest.raises(BridoError, match="sources.json is missing"):
        sources_text(folder / "sources.json")
