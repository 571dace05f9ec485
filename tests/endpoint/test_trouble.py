"""Servers that fail, and what may not leak while they do."""

import logging
import time

import pytest
from bad_endpoint import TROUBLES, BadEndpoint, plain_answer

from brido.endpoint.call import CallFailed, read_response, retry_after
from brido.utils.errors import BridoError

TEXTS = [f"Confidential document {number}: what of the bridge?" for number in range(12)]
KEY = "sk-do-not-tell-anybody"


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_trouble_is_got_over_and_leaves_no_trace_in_the_answers(asking, trouble):
    how = {"trouble": 0.3, "troubles": (trouble,), "stall_seconds": 1.0}
    with BadEndpoint(**how) as server:
        # One call at a time where a kept connection would hand an answer to the next question.
        runtime = {"max_attempts": 20, "max_concurrency": 1 if trouble == "twice" else 32}
        answers = asking(server, TEXTS, timeout_seconds=0.5, **runtime)
        assert answers == [{0: plain_answer(f"{text} 0")} for text in TEXTS]
        if trouble != "twice":
            assert len(server.requests) > 12
        else:
            # An answer that comes twice belongs to its own question alone.
            assert len(server.requests) == 12


def test_a_connection_serves_one_call(asking):
    with BadEndpoint() as server:
        asking(server, TEXTS)
    assert all("connection: close" in head.lower() for head in server.headers)


def test_retry_after_is_waited_for(asking):
    how = {"trouble": 1.0, "troubles": ("429 after",), "retry_after": "0.6"}
    with BadEndpoint(troubles_left=1, **how) as server:
        asking(server, TEXTS[:1])
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
        read_response(content, None)


def test_choices_that_come_twice_or_in_disorder_count_once():
    choices = [(1, "b"), (0, "a"), (1, "again"), (0, "again")]
    body = ", ".join(
        f'{{"index": {index}, "message": {{"content": "{text}"}}}}' for index, text in choices
    )
    answers = read_response(f'{{"choices": [{body}]}}'.encode(), None)
    assert [answer.text for answer in answers] == ["a", "b"]


def test_refusals_and_filters_are_answers_and_said_to_be_refused():
    for choice in (
        '{"message": {"content": null, "refusal": "No."}}',
        '{"message": {"content": "A bridge"}, "finish_reason": "content_filter"}',
    ):
        (answer,) = read_response(f'{{"choices": [{choice}]}}'.encode(), None)
        assert answer.refused


def test_nobody_there_is_an_error_after_patience(asking):
    with BadEndpoint() as server:
        pass
    with pytest.raises(BridoError, match=r"generation\.big: .*no answer for .* \(last: server un"):
        asking(server, TEXTS, patience_seconds=0.5)


def test_a_server_that_wants_an_hour_is_not_waited_for(asking):
    with BadEndpoint(trouble=1.0, troubles=("429 after",), retry_after="3600") as server:
        started = time.monotonic()
        with pytest.raises(BridoError, match="asks to wait 3600 s"):
            asking(server, TEXTS)
        assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "refused the key"), (403, "refused the key"), (404, "no such address or model")],
)
def test_errors_that_no_call_can_get_over_stop_at_once(asking, status, message):
    with BadEndpoint(always={"bridge": status}) as server:
        with pytest.raises(BridoError, match=f"generation.big: .*{message}.*HTTP {status} some_c"):
            asking(server, TEXTS, max_concurrency=1)
        assert len(server.requests) == 1


def test_a_request_that_the_server_calls_wrong_every_time(asking):
    expected = r"^generation.big: the server refuses every call \(HTTP 400 some_code\).*null leaves"
    with BadEndpoint(always={"bridge": 400}) as server, pytest.raises(BridoError, match=expected):
        asking(server, TEXTS)


def test_a_redirect_is_not_followed(asking):
    with BadEndpoint() as other, BadEndpoint(redirect=f"{other.url}/{TEXTS[0]}?k={KEY}") as server:
        address = other.url.removesuffix("/v1")
        with pytest.raises(BridoError, match="sends questions on to another address") as error:
            asking(server, TEXTS)
        assert f"HTTP 307 some_code, {address})" in str(error.value)
        assert KEY not in str(error.value)
        assert other.requests == []


def test_openais_key_goes_to_openai_alone(asking, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BadEndpoint() as server:
        asking(server, TEXTS[:1])
        assert not any(KEY in head for head in server.headers)
        monkeypatch.setenv("BIG_KEY", KEY)
        asking(server, TEXTS[1:2], api_key_env="BIG_KEY")
        assert f"Bearer {KEY}" in server.headers[-1]


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_no_key_and_no_prompt_in_logs_and_errors_unless_asked_for(
    asking, monkeypatch, caplog, capfd, status
):
    monkeypatch.setenv("BIG_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Key {KEY} may not ask: {TEXTS[0]}"
    runtime = {"api_key_env": "BIG_KEY", "max_attempts": 9, "patience_seconds": 0.5}
    with BadEndpoint(always={"bridge": status}, error_text=said) as server:
        with pytest.raises(BridoError) as hidden:
            asking(server, TEXTS, **runtime)
        written = "".join([str(hidden.value), *capfd.readouterr()])
        with pytest.raises(BridoError) as shown:
            asking(server, TEXTS, show_content=True, **runtime)
    assert hidden.value.__cause__ is None
    for word in (KEY, "Confidential", "bridge"):
        assert word not in written
        assert word not in caplog.text
    assert TEXTS[0] in str(shown.value)
    assert KEY not in str(shown.value)
