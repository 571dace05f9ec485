"""Servers that fail, and what may not leak while they do."""

import logging
import time

import pytest
from bad_judge_server import TROUBLES, BadJudgeServer, clean_answer
from brido.evaluation.geval.endpoint import CallFailed, read_response, retry_after

from brido.errors import BridoError
from brido.evaluation.geval import GEval
from brido.settings import GEvalSettings, JudgeRuntime

DOCUMENTS = [f"Confidential document {number}." for number in range(12)]
SUMMARIES = [f"Bridge {number} stands." for number in range(12)]
KEY = "sk-do-not-tell-anybody"


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def make(server=None, runtime=None, **settings):
        where = {"base_url": server.url} if server else {}
        always = {"store": str(tmp_path / "answers.sqlite"), "timeout_seconds": 0.5, **where}
        chosen = {"model": "judge", "score_mode": "greedy", **settings}
        return GEval(GEvalSettings(**chosen), JudgeRuntime(**always, **(runtime or {})))

    return make


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The rows that a server without trouble gives."""
    store = str(tmp_path_factory.mktemp("undisturbed") / "answers.sqlite")
    with BadJudgeServer(answer=clean_answer) as server:
        runtime = JudgeRuntime(base_url=server.url, store=store)
        settings = GEvalSettings(model="judge", score_mode="greedy")
        return GEval(settings, runtime).score(DOCUMENTS, SUMMARIES).rows


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_trouble_is_got_over_and_leaves_no_trace_in_the_marks(judge, undisturbed, trouble):
    how = {"trouble": 0.3, "troubles": (trouble,), "answer": clean_answer, "stall_seconds": 1.0}
    with BadJudgeServer(**how) as server:
        # One call at a time where a kept connection would hand an answer to the next question.
        runtime = {"max_attempts": 20, "max_concurrency": 1 if trouble == "twice" else 32}
        assert judge(server, runtime).score(DOCUMENTS, SUMMARIES).rows == undisturbed
        if trouble != "twice":
            assert len(server.requests) > 12
        else:
            # An answer that comes twice belongs to its own question alone.
            assert len(server.requests) == 12


def test_a_connection_serves_one_call(judge):
    with BadJudgeServer(answer=clean_answer) as server:
        judge(server).score(DOCUMENTS, SUMMARIES)
    assert all("connection: close" in head.lower() for head in server.headers)


def test_retry_after_is_waited_for(judge):
    how = {"trouble": 1.0, "troubles": ("429 after",), "retry_after": "0.6"}
    with BadJudgeServer(answer=clean_answer, troubles_left=1, **how) as server:
        judge(server).score(DOCUMENTS[:1], SUMMARIES[:1])
        first, second = server.times
    assert second - first >= 0.6


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'"text"', b"{}", b'{"choices": []}', b'{"choices": [{}]}',
     b'{"choices": [{"message": {"content": ["parts"]}}]}', b'{"choices": [{"message": null}]}',
     b"<html></html>", b"\xff\xfe", b'{"choices": [{"message": {}}], "usage": 3}'],
)  # fmt: skip
def test_a_body_that_is_no_completion_is_no_answer(content):
    with pytest.raises(CallFailed, match="malformed"):
        read_response(content, with_tokens=False)


def test_choices_that_come_twice_or_in_disorder_count_once():
    choices = [(1, "b"), (0, "a"), (1, "again"), (0, "again")]
    body = ", ".join(
        f'{{"index": {index}, "message": {{"content": "{text}"}}}}' for index, text in choices
    )
    answers = read_response(f'{{"choices": [{body}]}}'.encode(), with_tokens=False)
    assert [answer.text for answer in answers] == ["a", "b"]


def test_refusals_and_filters_are_answers_without_marks():
    for choice in (
        '{"message": {"content": null, "refusal": "No."}}',
        '{"message": {"content": "coherence: 4"}, "finish_reason": "content_filter"}',
    ):
        (answer,) = read_response(f'{{"choices": [{choice}]}}'.encode(), with_tokens=False)
        assert answer.refused


def test_nobody_there_is_an_error_after_patience(judge):
    with BadJudgeServer() as server:
        pass
    with pytest.raises(BridoError, match=r"no answer for .* s \(last: server unreachable\)"):
        judge(server, {"patience_seconds": 0.5}).score(DOCUMENTS, SUMMARIES)


def test_a_server_that_wants_an_hour_is_not_waited_for(judge):
    with BadJudgeServer(trouble=1.0, troubles=("429 after",), retry_after="3600") as server:
        started = time.monotonic()
        with pytest.raises(BridoError, match="asks to wait 3600 s"):
            judge(server).score(DOCUMENTS, SUMMARIES)
        assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "refused the key"), (403, "refused the key"), (404, "no such address or model")],
)
def test_errors_that_no_call_can_get_over_stop_at_once(judge, status, message):
    with BadJudgeServer(always={"Bridge": status}) as server:
        with pytest.raises(BridoError, match=f"{message}.*HTTP {status} some_code"):
            judge(server).score(DOCUMENTS, SUMMARIES)
        assert len(server.requests) == 1


def test_a_request_that_the_server_calls_wrong_every_time(judge):
    with BadJudgeServer(always={"Bridge": 400}) as server:
        with pytest.raises(BridoError, match=r"400 some_code.*null leaves it out"):
            judge(server).score(DOCUMENTS, SUMMARIES)
        with pytest.raises(BridoError, match=r"refuses every call \(HTTP 400 some_code\)"):
            judge(server, structured_output="never").score(DOCUMENTS, SUMMARIES)


def test_no_key_prompt_or_document_in_logs_and_errors_unless_asked_for(
    judge, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Key {KEY} may not mark: {DOCUMENTS[0]}"
    runtime = {"api_key_env": "JUDGE_KEY", "max_attempts": 2, "patience_seconds": 5.0}
    for status in (400, 401, 404, 500):
        with BadJudgeServer(always={"Bridge": status}, error_text=said) as server:
            with pytest.raises(BridoError) as hidden:
                judge(server, runtime).score(DOCUMENTS[:3], SUMMARIES[:3])
            assert f"Bearer {KEY}" in server.headers[0]
            if status != 500:
                with pytest.raises(BridoError) as shown:
                    judge(server, {**runtime, "show_content": True}).score(DOCUMENTS, SUMMARIES)
                assert DOCUMENTS[0] in str(shown.value) + capfd.readouterr().err
                assert KEY not in str(shown.value)
        assert hidden.value.__cause__ is None
        for word in (KEY, "Confidential", "Bridge"):
            assert word not in str(hidden.value)
    with BadJudgeServer(answer=clean_answer, trouble=0.3) as server:
        judge(server, {**runtime, "max_attempts": 30}).score(DOCUMENTS, SUMMARIES)
    output = "".join(capfd.readouterr())
    for word in (KEY, "Confidential", "Bridge"):
        assert word not in output
    assert KEY not in caplog.text
    assert "Confidential" not in caplog.text


def test_openais_key_goes_to_openai_alone(judge, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BadJudgeServer(answer=clean_answer) as server:
        judge(server).score(DOCUMENTS[:1], SUMMARIES[:1])
    assert not any(KEY in head for head in server.headers)


def test_settings_that_do_not_fit_together_are_all_named_and_no_secret_is_shown(judge):
    with pytest.raises(BridoError) as error:
        judge(
            runtime={"max_cost": 1.0, "dry_run": False, "api_key_env": KEY},
            model=None,
            prompt="none.jinja",
            score_mode="mean",
            temperature=0.0,
            extra_parameters={"n": 3, "reasoning_effort": "low"},
        )
    text = str(error.value)
    for part in ("model", "max_cost", "api_key_env", "none.jinja", "temperature", "n cannot be"):
        assert part in text
    assert KEY not in text
    with pytest.raises(BridoError, match="OPENAI_API_KEY .* is not set"):
        judge()
    with pytest.raises(BridoError, match="MY_KEY .* is not set"):
        judge(runtime={"api_key_env": "MY_KEY"})
    with pytest.raises(BridoError, match="exclude each other"):
        judge(runtime={"dry_run": True, "replay": True})
