"""What servers do wrong: every trouble is got over, bounded, or one sentence."""

import json
import logging
from itertools import pairwise

import pytest
from bad_endpoint import TROUBLES, BadEndpoint, plain_answer

from brido.endpoint.call import LONGEST_RESPONSE
from brido.endpoint.responses import Unreadable, read_response
from brido.utils.errors import BridoError

TEXTS = [f"Confidential document {number}: what of the bridge?" for number in range(12)]
KEY = "sk-do-not-tell-anybody"


# What a Retry-After and a count of tokens cannot be.
LONG_AGO = "Sun, 06 Nov 1994 08:49:37 GMT"
NO_WAITS = ["nan", "-1", LONG_AGO]
NO_COUNTS = [-5, 2**64, 10**400, {"a": 3}, [[[3]]], "nan", float("nan"), True, "many", 1.5]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_trouble_is_got_over_and_leaves_no_trace_in_the_answers(asking, trouble):
    how = {"trouble": 0.3, "troubles": (trouble,), "stall_seconds": 1.0}
    with BadEndpoint(**how) as server:
        # One call at a time where a kept connection would hand an answer to the next question.
        runtime = {"max_attempts": 20, "max_concurrency": 1 if trouble == "twice" else 32}
        answers = asking(server, TEXTS, timeout_seconds=0.5, **runtime)
        assert answers == [{0: plain_answer(f"{text} 0")} for text in TEXTS]
        # An answer that comes twice belongs to its own question alone.
        assert (len(server.requests) > 12) == (trouble != "twice")
        assert all("connection: close" in head.lower() for head in server.headers)


def test_a_response_without_end_is_left_at_the_cap(asking):
    with BadEndpoint(trouble=1.0, troubles=("flood",), troubles_left=1) as server:
        assert asking(server, TEXTS[:1]) == [{0: plain_answer(f"{TEXTS[0]} 0")}]
    # What lies in the buffers of the connection comes on top.
    assert LONGEST_RESPONSE < server.flooded < LONGEST_RESPONSE + 2**24


@pytest.mark.parametrize("asked", NO_WAITS)
def test_a_retry_after_that_means_nothing_is_not_no_wait(asking, asked):
    with BadEndpoint(trouble=1.0, troubles=("429 after",), retry_after=asked) as server:
        with pytest.raises(BridoError, match=r"generation\.big: .*patience_seconds"):
            asking(server, TEXTS[:1], patience_seconds=0.5, max_attempts=3)
        assert len(server.requests) <= 30


def test_an_overloaded_server_is_asked_until_it_can_when_it_wants(asking):
    how = {"trouble": 1.0, "troubles": ("429 after",), "retry_after": "0.6"}
    for attempts, wait in ((4, 0.6), (1, 0.1)):
        # More often than max_attempts: the call is not at fault.
        with BadEndpoint(troubles_left=3, **how) as server:
            text = f"{TEXTS[0]} {attempts}"
            answers = asking(server, [text], max_attempts=attempts)
            assert answers == [{0: plain_answer(f"{text} 0")}]
            assert len(server.requests) == 4
            assert all(later - one >= wait for one, later in pairwise(server.times))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'"text"', b"{}", b'{"choices": []}', b'{"choices": [{}]}',
     b'{"choices": [{"message": {"content": 7}}]}', b'{"choices": [{"message": null}]}',
     b'{"choices": [{"message": {"content": [{"type": "text", "text": 7}]}}]}', b'{"choices": 3}',
     b"<html></html>", b"\xff\xfe", b'{"choices": [3]}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_body_that_is_not_a_completion_is_not_an_answer(content):
    with pytest.raises(Unreadable):
        read_response(content)


def completion(content="half \ud83d", usage=None, finish_reason=None, **message):
    choice = {"message": {"content": content, **message}, "finish_reason": finish_reason}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


@pytest.mark.parametrize("count", NO_COUNTS, ids=repr)
def test_token_counts_that_are_none_are_not_counted_and_half_a_character_is_replaced(count):
    for usage in (
        {"prompt_tokens": count, "completion_tokens": 3},
        {"prompt_tokens": 3, "completion_tokens": count},
        count,
    ):
        answer = read_response(completion(usage=usage))
        assert (answer.prompt_tokens, answer.answer_tokens) == (0, 0)
        assert answer.text == "half \ufffd"


def test_a_count_of_thousands_of_digits_does_not_cost_the_answer():
    plain = completion("A bridge.", usage={"prompt_tokens": 7})
    assert read_response(plain).prompt_tokens == 7
    answer = read_response(plain.replace(b"7", b"9" * 5000))
    assert (answer.text, answer.prompt_tokens) == ("A bridge.", 0)


@pytest.mark.parametrize(("total", "paid"), [(553, 533), (100, 151), (None, 151), ("?", 151)])
def test_thoughts_that_the_total_alone_counts_are_paid_for(total, paid):
    usage = {"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": total}
    answer = read_response(completion("A bridge.", usage))
    assert (answer.prompt_tokens, answer.answer_tokens) == (20, paid)


def test_refusals_and_filters_are_answers_and_said_to_be_refused():
    assert read_response(completion(None, refusal="No.")).refused
    assert read_response(completion("A bridge", finish_reason="content_filter")).refused
    assert not read_response(completion("A bridge")).refused


def test_a_redirect_is_neither_followed_nor_quoted(asking, monkeypatch):
    monkeypatch.setenv("BIG_KEY", KEY)
    with BadEndpoint() as other, BadEndpoint(redirect=f"{other.url}/{KEY}?k={KEY}") as server:
        with pytest.raises(BridoError, match=r"redirects.*base_url \(HTTP 307") as error:
            asking(server, TEXTS, api_key_env="BIG_KEY", show_content=True)
        assert KEY not in str(error.value)
        assert other.requests == []


def test_no_part_of_a_key_is_left_where_an_error_is_cut(asking, monkeypatch):
    monkeypatch.setenv("BIG_KEY", KEY)
    for length in range(960, 1000, 10):
        how = {"always": {"bridge": 400}, "error_text": "x" * length + KEY}
        with BadEndpoint(**how) as server, pytest.raises(BridoError, match="xxx") as shown:
            asking(server, TEXTS, show_content=True, api_key_env="BIG_KEY")
        assert KEY[:5] not in str(shown.value)


def test_openais_key_and_account_go_to_openai_alone(asking, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    with BadEndpoint() as server:
        asking(server, TEXTS[:1])
        assert not any(word in head for head in server.headers for word in (KEY, "mine"))
        monkeypatch.setenv("BIG_KEY", KEY)
        asking(server, TEXTS[1:2], api_key_env="BIG_KEY")
        assert f"Bearer {KEY}" in server.headers[-1]


def test_no_key_and_no_prompt_in_logs_and_errors_unless_asked_for(
    asking, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("BIG_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Key {KEY} may not ask: {TEXTS[0]}"
    with BadEndpoint(always={"bridge": 400}, error_text=said) as server:
        with pytest.raises(BridoError) as hidden:
            asking(server, TEXTS, api_key_env="BIG_KEY")
        written = "".join([str(hidden.value), *capfd.readouterr()])
        with pytest.raises(BridoError) as shown:
            asking(server, TEXTS, show_content=True, api_key_env="BIG_KEY")
        assert TEXTS[0] in str(shown.value)
        assert KEY not in str(shown.value)
    assert hidden.value.__cause__ is None
    for word in (KEY, "Confidential", "bridge"):
        assert word not in written
        assert word not in caplog.text
