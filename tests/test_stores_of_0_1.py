"""What version 0.1 paid for or computed is found by this one: stores as its code wrote them.

`stores_0_1/*.sql` are dumps (`iterdump`) of files made by version 0.1: by `GEval` on the two texts
below, asked of the tests' server in both modes, and by QAFactEval's store.
"""

import sqlite3
from pathlib import Path

import pytest
from bad_endpoint import BadEndpoint

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.store import ResultStore

DUMPS = Path(__file__).parent / "stores_0_1"
DOCUMENTS = ["A bridge over the Ash opened.", "Das Brücken-Café schloss."]
SUMMARIES = ["A bridge opened.", "Ein Café schloss – “für immer”."]
# What version 0.1 printed for them: coherence, consistency, fluency, relevance.
MARKS = {
    "mean": [(3.0, 4.5, 2.0, 3.5), (2.5, 3.5, 2.0, 3.5)],
    "probability": [(3.75, 4.75, 1.25, 4.75), (1.75, 4.75, 1.25, 4.75)],
}
PAID = {"mean": (1049, 120), "probability": (700, 60)}
SAMPLING = {"mean": {"samples": 2, "seed": 7}, "probability": {}}


def old_store(path, name, version):
    """A file as version 0.1 left it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript((DUMPS / f"{name}.sql").read_text())
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return path


def geval(path, mode, runtime, **settings):
    chosen = {"model": "judge", "score_mode": mode, **SAMPLING[mode], **settings}
    return GEval(GEvalSettings(**chosen), EndpointRuntime(store=str(path), **runtime))


@pytest.mark.parametrize("mode", ["mean", "probability"])
def test_a_judges_answers_are_replayed(tmp_path, mode):
    path = old_store(tmp_path / "answers.sqlite", "answers", version=1)
    evaluation = geval(path, mode, {"replay": True}).score(DOCUMENTS, SUMMARIES)
    names = ("coherence", "consistency", "fluency", "relevance")
    assert [tuple(row[name] for name in names) for row in evaluation.rows] == MARKS[mode]
    signature = evaluation.signature
    assert (signature["prompt_tokens"], signature["answer_tokens"]) == PAID[mode]


def test_only_what_is_new_is_asked_and_what_is_old_counts_in_the_budget(tmp_path, capfd):
    path = old_store(tmp_path / "answers.sqlite", "answers", version=1)
    with BadEndpoint(answer=lambda question: '{"coherence": 1}') as server:
        runtime = {"base_url": server.url}
        again = geval(path, "mean", runtime).score(DOCUMENTS, SUMMARIES)
        assert [row["coherence"] for row in again.rows] == [3.0, 2.5]
        assert server.requests == []
        more = geval(path, "mean", runtime, samples=3, max_invalid_fraction=1.0)
        rows = more.score(DOCUMENTS, SUMMARIES).rows
        assert [row["coherence"] for row in rows] == [(6.0 + 1.0) / 3, (5.0 + 1.0) / 3]
        assert [body["seed"] for body in server.requests] == [9, 9]
    assert f"in the store: {1049 + 700 + 349 + 351:,} prompt" in capfd.readouterr().err


def test_qafactevals_answers_are_found(tmp_path):
    path = old_store(tmp_path / "qafacteval.sqlite", "results", version=0)

    def compute(new):
        raise AssertionError(f"{new} was computed before")

    found = {"prediction": "Ann", "probability": 0.75, "null_probability": 0.25}
    with ResultStore(path) as store:
        items = [("Ann left.", 0, 3), ("Zoë ging.", 0, 3)]
        assert store.recall("question", "abc/faithful=True", items, compute) == {
            items[0]: "Who left.",
            items[1]: "Who ging.",
        }
        asked = [("Who left?", "Ann left.")]
        assert store.recall("answer", "def/faithful=True", asked, compute) == {asked[0]: found}
    with ResultStore(path) as store, pytest.raises(AssertionError, match="was computed before"):
        store.recall("question", "another model", items, compute)
