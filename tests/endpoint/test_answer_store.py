"""The store: keys by content, answers final, private, safe under a crash."""

import json
import os
import sqlite3
import stat

import pytest

from brido.endpoint import Answer, AskedModel
from brido.endpoint.store import AnswerStore, Row
from brido.utils.errors import BridoError

MODEL = AskedModel("model", None, {"temperature": 1.0})
MESSAGES = [{"role": "user", "content": "Sum it up."}]


def row(text="4", sample=0, model=MODEL, messages=MESSAGES, **fields):
    return Row(model, model.key(messages), sample, 10, Answer(text, **fields))


def test_what_is_stored_comes_back(tmp_path):
    answer = Answer("“4”\n", "stop", False, "model-0613", 120, 7)
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.append([Row(MODEL, "k", 3, 500, answer), Row(MODEL, "k", 0, 0, Answer("5"))])
    with AnswerStore(tmp_path / "a.sqlite", must_exist=True) as store:
        assert store.samples("k") == {0, 3}
        assert store.answers("k", 10) == {0: Answer("5"), 3: answer}
        assert store.answers("k", 3) == {0: Answer("5")}
        assert store.answers("other", 3) == {}
        assert store.usage(MODEL) == (500, 120, 7)


def test_an_answer_is_final(tmp_path):
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.append([row("first")])
        store.append([row("second"), row("third", sample=1)])
        texts = {number: a.text for number, a in store.answers(MODEL.key(MESSAGES), 9).items()}
        assert texts == {0: "first", 1: "third"}


def test_every_part_of_a_question_is_in_its_key():
    keys = {
        model.key(messages)
        for model in (
            MODEL,
            AskedModel("other", None, {"temperature": 1.0}),
            AskedModel("model", "2", {"temperature": 1.0}),
            AskedModel("model", None, {"temperature": 0.5}),
            AskedModel("model", None, {"temperature": 1.0, "top_p": 1.0}),
        )
        for messages in (
            MESSAGES,
            [{"role": "system", "content": "Sum it up."}],
            [{"role": "user", "content": "Sum that up."}],
            [*MESSAGES, *MESSAGES],
        )
    }
    assert len(keys) == 20
    assert AskedModel("model", None, {"b": 1, "a": 2}).key(MESSAGES) == (
        AskedModel("model", None, {"a": 2, "b": 1}).key(MESSAGES)
    )


def test_only_the_owner_can_read_it_or_its_journal(tmp_path):
    path = tmp_path / "deep" / "a.sqlite"
    old = os.umask(0)
    try:
        with AnswerStore(path) as store:
            store.append([row()])
            files = sorted(path.parent.iterdir())
            assert len(files) == 3  # the file, its journal and the journal's index
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(old)
    path.chmod(0o644)
    with AnswerStore(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_holds_no_prompt(tmp_path):
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.append([row()])
    assert b"Sum it up" not in (tmp_path / "a.sqlite").read_bytes()


def test_several_answers_are_committed_all_or_none(tmp_path):
    with AnswerStore(tmp_path / "a.sqlite") as store:
        with pytest.raises(BridoError, match="cannot be used"):
            store.append([row("good"), row(None, sample=1)])
        assert store.samples(MODEL.key(MESSAGES)) == set()


def test_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "a.sqlite"
    path.write_text("These are not the answers that you are looking for. " * 20)
    with pytest.raises(BridoError, match=r"a\.sqlite cannot be used"):
        AnswerStore(path)


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(BridoError, match="no store of answers"):
        AnswerStore(tmp_path / "a.sqlite", must_exist=True)
    assert not (tmp_path / "a.sqlite").exists()


def test_a_store_of_a_newer_version(tmp_path):
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(BridoError, match="newer version"):
        AnswerStore(path)


def test_parameters_are_readable_beside_the_answers(tmp_path):
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.append([row()])
    connection = sqlite3.connect(tmp_path / "a.sqlite")
    ((model, parameters),) = connection.execute("SELECT model, parameters FROM judges")
    connection.close()
    assert (model, json.loads(parameters)) == ("model", {"temperature": 1.0})
