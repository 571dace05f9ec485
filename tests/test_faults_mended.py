"""Faults that were found from outside, one test each, where no room's own tests have them."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from small_project import ROOT

from brido.candidates.pool import Pool
from brido.candidates.settings import PoolSettings
from brido.corpus.checks import RawRow, SplitChecks
from brido.settings.load import read_yaml
from brido.tables import CANDIDATES, CORPUS, write_table
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError
from brido.vote.consensus import consensus_scores, eligible_scores, ranking
from brido.vote.signals import combined, shuffled_scores

UNSEEN = [
    "\u200b",
    "\ufeff\u200d",
    "\u2060 \u00ad\n",
    "\u200e\u200f",
    "\u3164\u115f",
    "\u2800",
    "\ufe0f",
]


@pytest.mark.parametrize("text", UNSEEN)
def test_a_text_of_characters_without_a_shape_is_blank(text):
    assert is_blank(text)
    assert not is_blank(f"{text}a")
    checks = SplitChecks("train", False, 1.0)
    rows = [RawRow("a", text, "s"), RawRow("b", "d", text), RawRow(text, "d", "s")]
    assert not list(checks.keep_good(rows))
    assert checks.bad == {"document is blank": 1, "summary is blank": 1, "id is null or blank": 1}


def test_words_of_any_script_are_not_blank():
    for text in ("a", "语", "อ", "नि", "\U0001f600", "!", "e\u0301", "\u200bא"):
        assert not is_blank(text)


GOOD = {"id": "a", "candidates": ["x", "y", "z"], "search_scores": [0.0] * 3, "ended": [True] * 3}


@pytest.fixture
def pool(tmp_path):
    """The rows of a pool made from these rows of a candidates table, nulls and all."""

    def make(*rows):
        schema = pa.schema([field.with_nullable(True) for field in CANDIDATES])
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), tmp_path / "c.parquet")
        corpus = [
            {"id": name, "document": "A text.", "summary": "s", "references": []} for name in "abc"
        ]
        write_table(tmp_path / "corpus.parquet", [corpus], CORPUS)
        tables = {"one": tmp_path / "c.parquet"}
        made = Pool(tables, tmp_path / "corpus.parquet", PoolSettings())
        return [row for batch in made.rows() for row in batch]

    return make


@pytest.mark.parametrize("wrong", [
    {"candidates": ["x"]}, {"candidates": ["x", "y", "z", "u"]}, {"candidates": []},
    {"candidates": ["x", None, "z"]}, {"candidates": None}, {"search_scores": [0.0]},
    {"search_scores": None}, {"ended": [True]}, {"ended": [None, True, True]}, {"id": None},
    {"id": "nobody"}, {"id": "a"},
])  # fmt: skip
def test_a_table_of_candidates_with_gaps_is_one_sentence(pool, wrong):
    with pytest.raises(BridoError, match="c.parquet"):
        pool(GOOD, GOOD | {"id": "b"} | wrong)


def test_all_rows_of_a_source_hold_as_many_candidates(pool):
    short = {"candidates": ["x"], "search_scores": [0.0], "ended": [True]}
    with pytest.raises(BridoError, match="(?s)'b'.*3 candidates|3 candidates.*'b'"):
        pool(GOOD, GOOD | {"id": "b"} | short)
    found = pool(GOOD, GOOD | {"id": "b", "candidates": ["\u200b", "y", "z"]})
    assert found[1]["voters"] == [False, True, True]


class Arrayed:
    """What NumPy can make an array of."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.mark.parametrize("kind", [
    list, tuple, np.array, torch.tensor, Arrayed, pa.array, lambda rows: np.array(rows, np.float16),
    lambda rows: np.ma.array(rows), lambda rows: [torch.tensor(row) for row in rows],
])  # fmt: skip
def test_the_vote_takes_what_numpy_takes(kind):
    matrix = [[0.0, 0.5, 0.25], [0.75, 0.0, 1.0]]
    if kind is not pa.array:
        assert consensus_scores(kind(matrix), 0).tolist() == [0.5, 0.75]
        every = kind([[1.0, 1.0]])
        found = eligible_scores(np.array([matrix]), 0, "equation", every, every)
        assert found.tolist() == [[0.5, 0.75]]
        assert shuffled_scores(kind([[0.5, 0.5]]), ["a"]).tolist() == [[0.5, 0.5]]
    assert ranking(kind([0.5, 0.75])).tolist() == [1, 0]
    assert combined(kind([0.5, 0.75]), [(0.5, kind([1.0, 1.0]))]).tolist() == [-0.5, 0.5]


def test_no_folder_of_the_pipeline_is_empty(tmp_path, monkeypatch):
    """DVC warns of an empty output at every run."""
    from stages import download, paths

    monkeypatch.chdir(tmp_path)
    params = read_yaml(ROOT / "params.yaml")
    params["data"]["world"] |= {"train": 8, "validation": 4, "test": 4}
    Path("params.yaml").write_text(json.dumps(params))
    download.main()
    for out in (
        paths.corpus("train").parent,
        Path("data/decoded/reference"),
        paths.no_checkpoint(),
    ):
        assert list(out.iterdir()), out
