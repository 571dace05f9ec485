"""Stores that version 0.2 wrote are found by this version: what was paid for is not asked again.

`stores_0_2/*.sql` are dumps (`iterdump`) of files that version 0.2 made: by `GEval` on the two
texts below (once a server that takes a JSON schema, once one that does not), by a source of
candidates (method endpoint), and by the store of QAFactEval.
"""

import sqlite3
from pathlib import Path

import pytest
from bad_endpoint import BadEndpoint, plain_answer

from brido.candidates.documents import SplitDocuments
from brido.candidates.endpoint import AnswerWorker, Asker
from brido.candidates.settings import EndpointGeneration
from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.settings import GEvalSettings
from brido.models.settings import ReadingSettings
from brido.tables import CORPUS, write_table
from brido.utils.store import ResultStore

DUMPS = Path(__file__).parent / "stores_0_2"
DOCUMENTS = ["A bridge over the Ash opened.", "Das Brücken-Café schloss."]
SUMMARIES = ["A bridge opened.", "Ein Café schloss – “für immer”."]
JUDGES = {
    "mean": {"model": "judge", "samples": 2, "seed": 7},
    "greedy": {
        "model": "plain",
        "revision": "2",
        "prompt": "separate",
        "extra_parameters": {"reasoning_effort": "low"},
    },
}
# What version 0.2 printed for them: coherence, consistency, fluency, relevance.
MARKS = {
    "mean": [(3.0, 4.5, 2.0, 3.5), (2.5, 3.5, 2.0, 3.5)],
    "greedy": [(3.0, 5.0, 1.0, 3.0), (5.0, 4.0, 3.0, 2.0)],
}
PAID = {"mean": (1400, 120), "greedy": (1317, 240)}


def old_store(path, name, version):
    """A file as version 0.2 left it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript((DUMPS / f"{name}.sql").read_text())
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return path


def geval(path, mode, runtime, **settings):
    chosen = {"score_mode": mode, **JUDGES[mode], **settings}
    return GEval(GEvalSettings(**chosen), EndpointRuntime(store=str(path), **runtime))


@pytest.mark.parametrize("mode", ["mean", "greedy"])
def test_a_judges_answers_are_replayed(tmp_path, mode):
    path = old_store(tmp_path / "answers.sqlite", "answers", version=1)
    evaluation = geval(path, mode, {"replay": True}).score(DOCUMENTS, SUMMARIES)
    names = ("coherence", "consistency", "fluency", "relevance")
    assert [tuple(row[name] for name in names) for row in evaluation.rows] == MARKS[mode]
    signature = evaluation.signature
    assert (signature["prompt_tokens"], signature["answer_tokens"]) == PAID[mode]
    assert signature["structured_output"] == (mode == "mean")


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
    assert f"in the store: {1400 + 349 + 351:,} prompt" in capfd.readouterr().err


def test_candidates_of_a_server_are_found(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = old_store(tmp_path / "answers.sqlite", "answers", version=1)
    rows = [
        {"id": f"d{number}", "document": text, "summary": "s", "references": ["s"]}
        for number, text in enumerate(DOCUMENTS)
    ]
    write_table(tmp_path / "corpus.parquet", [rows], CORPUS)
    asker = Asker(
        "big",
        EndpointGeneration(method="endpoint", checkpoint="none", model="m", num_candidates=2),
        ReadingSettings(prompt="Shorten this:\n{{ document }}", system="Be brief."),
        EndpointRuntime(store=str(path), replay=True),
    )
    documents = SplitDocuments(tmp_path / "corpus.parquet", None, "refuse")
    asker.ask([documents], 10.0)
    (part,) = documents.parts(2)
    found, _ = AnswerWorker(asker, "cpu", lambda count: None)(part)
    for row, text in zip(found, DOCUMENTS, strict=True):
        expected = [plain_answer(f"Shorten this:\n{text} {number}") for number in (0, 1)]
        assert row["candidates"] == expected
        assert row["ended"] == [True, True]


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
