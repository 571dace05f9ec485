"""The table of sources against sums written out."""

import json
import math

import numpy as np
import pytest

from brido.errors import BridoError
from brido.report.sources import compare, sources_rows, sources_text, write_sources
from brido.tables import POOL, similarity_schema, write_table

SOURCES = ["one", "one", "one", "two", "two"]


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
    write_table(tmp_path / "pool.parquet", [rows], POOL)
    write_similarity(tmp_path, ["a", "b"], matrices)
    return tmp_path, matrices


def write_similarity(folder, ids, matrices):
    rows = [
        {"id": name, "similarity": matrix.reshape(-1)}
        for name, matrix in zip(ids, matrices, strict=True)
    ]
    write_table(folder / "similarity.parquet", [rows], similarity_schema(5))


def test_every_number_is_the_one_written_out(tables):
    folder, matrices = tables
    found = compare(folder / "pool.parquet", folder / "similarity.parquet", 0, "equation")
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
    counts = ("candidates", "cleaned", "not_ended", "without_vote", "distinct")
    assert [found["one"][key] for key in counts] == [6, 1, 1, 1, 2]
    assert [found["two"][key] for key in counts] == [4, 1, 0, 0, 1.5]


def test_the_table_in_words(tables):
    folder, _ = tables
    paths = (folder / "pool.parquet", folder / "similarity.parquet")
    table = write_sources(folder / "sources.json", *paths, math.inf, "equation")
    assert json.loads((folder / "sources.json").read_text()) == table
    text = sources_text(folder / "sources.json")
    assert text.splitlines()[0].split() == [
        "source", "candidates", "cleaned", "not", "ended", "elected", "distinct", "alike",
        "agreement",
    ]  # fmt: skip
    assert text.splitlines()[1].split()[:4] == ["one", "6", "1", "1"]
    # A single source has nobody to agree with.
    alone = {"one": table["one"] | {"agreement": None, "alike": None}}
    assert sources_rows(alone)[1][-2:] == ["-", "-"]


def test_tables_of_other_documents_are_refused(tables):
    folder, matrices = tables
    for ids, kept in ((["b", "a"], matrices), (["a"], matrices[:1]), (["a", "b", "c"], None)):
        write_similarity(folder, ids, np.repeat(matrices[:1], 3, 0) if kept is None else kept)
        with pytest.raises(BridoError, match="other candidates than"):
            compare(folder / "pool.parquet", folder / "similarity.parquet", 0, "equation")
    with pytest.raises(BridoError, match="sources.json is missing"):
        sources_text(folder / "sources.json")
