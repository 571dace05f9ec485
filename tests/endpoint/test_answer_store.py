"""The store: keys by content, answers final, private, whole or not written."""

import json
import os
import sqlite3
import stat

import pytest

from brido.endpoint import Answer, AskedModel, Question
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError

MODEL = AskedModel("model", None, {"temperature": 1.0})
MESSAGES = [{"role": "user", "content": "Sum it up."}]
KEY = MODEL.key(MESSAGES)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "a.sqlite"


def row(answer, sample=0):
    return Question(MODEL, KEY, MESSAGES, sample), answer


def test_what_is_stored_comes_back_and_the_first_answer_is_final(path):
    answer = Answer("“4”\n", "stop", False, "model-0613", 120, 7)
    with AnswerStore(path) as store:
        store.append([row(answer, 3), row(Answer("5"))])
        store.append([row(Answer("second"), 3)])
    with AnswerStore(path) as store:
        assert store.samples(KEY) == {0, 3}
        assert store.answers(KEY, 10) == {0: Answer("5"), 3: answer}
        assert store.answers(KEY, 3) == {0: Answer("5")}
        assert store.answers("other", 3) == {}
        assert store.usage(MODEL) == (len("Sum it up."), 120, 7)


def test_an_empty_answer_is_asked_for_again_unless_it_was_cut_or_refused(path):
    with AnswerStore(path) as store:
        refused = Answer("", "content_filter", refused=True)
        store.append([row(Answer(" ")), row(Answer("", "length"), 1), row(refused, 2)])
        assert store.samples(KEY) == {1, 2}


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


def test_the_owner_alone_can_read_it_and_it_holds_parameters_and_no_prompt(path):
    old = os.umask(0)
    try:
        with AnswerStore(path) as store:
            store._connection.execute("BEGIN IMMEDIATE")
            store._connection.execute("DELETE FROM models")
            files = sorted(path.parent.iterdir())
            assert len(files) == 2  # the file and its journal
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
            store._connection.execute("ROLLBACK")
            store.append([row(Answer("4"))])
    finally:
        os.umask(old)
    path.chmod(0o644)
    with AnswerStore(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"Sum it up" not in path.read_bytes()
    connection = sqlite3.connect(path)
    ((model, parameters),) = connection.execute("SELECT name, parameters FROM models")
    connection.close()
    assert (model, json.loads(parameters)) == ("model", {"temperature": 1.0})


def test_a_folder_in_its_place_is_refused_and_stays_open(path):
    path.mkdir(0o755, parents=True)
    with pytest.raises(BridoError, match="cannot be used"):
        AnswerStore(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_several_answers_are_committed_all_or_none(path):
    with AnswerStore(path) as store:
        store._connection.execute("PRAGMA max_page_count=8")  # a full disk
        with pytest.raises(BridoError, match="full.*free"):
            store.append([row(Answer("good")), row(Answer("x" * 10**6), sample=1)])
        assert store.samples(KEY) == set()


def test_a_file_that_cannot_be_a_store(path):
    AnswerStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(BridoError, match="newer version"):
        AnswerStore(path)
    path.write_text("These are not the answers that you are looking for. " * 20)
    with pytest.raises(BridoError, match=r"a\.sqlite cannot be used"):
        AnswerStore(path)
