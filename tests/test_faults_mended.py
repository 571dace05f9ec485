"""Faults that were found from outside, one test each, where no room's own tests have them."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from small_project import ROOT

from brido.candidates.pool import Pool
from brido.candidates.settings import PoolSettings
from brido.cli import export, vote_check
from brido.corpus.checks import RawRow, SplitChecks
from brido.evaluation.geval import GEval
from brido.settings.load import read_yaml
from brido.tables import CANDIDATES, CORPUS, write_table
from brido.utils.blank import is_blank
from brido.utils.commands import invoke
from brido.utils.errors import ArgumentError, BridoError
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


def refused(call, *words):
    """The one sentence, or list of problems, that a call ends with."""
    with pytest.raises(BridoError) as error:
        call()
    said = str(error.value)
    assert all(word in said for word in words), said
    return said


@pytest.mark.parametrize("record", [
    {"candidates": 5}, {"candidates": {"a": 1}}, {"candidates": "ab"}, {"candidates": None},
    {"candidates": ["a", "b"], "unsupported": [10**400, 0]},
    {"candidates": ["a", "b"], "unsupported": [True, 0]},
    {"candidates": ["a", "b"], "document": "d", "log_probability": [-(10**400), 0]},
])  # fmt: skip
def test_vote_check_says_what_a_line_lacks(tmp_path, record):
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    refused(lambda: invoke(vote_check.command, [str(tmp_path / "a.jsonl")]), "a.jsonl")


@pytest.mark.parametrize("score", ["1" + "0" * 400, "-1" + "0" * 400, "1e999", "NaN", "true"])
def test_export_says_which_score_no_number_is(tmp_path, score):
    rest = '"document": "d", "candidates": ["a", "b"], "order": [0, 1]'
    (tmp_path / "a.jsonl").write_text(f'{{"scores": [{score}, 0], {rest}}}')
    out = tmp_path / "out.jsonl"
    words = ["preferences", "--scores", str(tmp_path / "a.jsonl"), "--output", str(out)]
    refused(lambda: invoke(export.command, words), "line 1", "`scores`")
    assert not out.exists()


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
    refused(lambda: pool(GOOD, GOOD | {"id": "b"} | wrong), "c.parquet")


def test_all_rows_of_a_source_hold_as_many_candidates(pool):
    short = {"candidates": ["x"], "search_scores": [0.0], "ended": [True]}
    refused(lambda: pool(GOOD, GOOD | {"id": "b"} | short), "'b'", "3 candidates")
    found = pool(GOOD, GOOD | {"id": "b", "candidates": ["\u200b", "y", "z"]})
    assert found[1]["voters"] == [False, True, True]


def test_geval_without_settings_is_a_sentence():
    for given in (("name",), (None,), ({"model": "m"},)):
        with pytest.raises(ArgumentError, match="GEvalSettings"):
            GEval(*given)


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


@pytest.mark.parametrize("call", [
    lambda: consensus_scores([[0, math.nan, 1], [1, 0, 1]], 0),
    lambda: eligible_scores([[[0, math.nan, 1], [1, 0, 1]]], 0, "equation", [[1, 1]], [[1, 1]]),
    lambda: eligible_scores([[[0, 1, 1], [1, 0, 1]]], 0, "equation", [[1]], [[1, 1]]),
    lambda: eligible_scores([[[0, 1, 1], [1, 0, 1]]], 0, "equation", "ab", [[1, 1]]),
    lambda: consensus_scores([[0, 1, 1], [1, 0, 1]], math.nan),
    lambda: combined([1.0, 2.0], [(math.nan, [1.0, 2.0])]),
    lambda: combined(["a"], [(0.5, [1.0])]),
    lambda: shuffled_scores(0.5, ["a"]),
    lambda: ranking({"a": 1}),
])  # fmt: skip
def test_what_is_not_a_number_is_the_callers_error(call):
    with pytest.raises(ArgumentError):
        call()


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
