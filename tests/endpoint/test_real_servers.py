"""What real servers answer is read, counted and kept; their errors say what helps."""

import json

import pytest
from bad_endpoint import BadEndpoint, plain_answer
from server_responses import RESPONSES, USAGE, Served, completion, error

from brido.endpoint.responses import read_response
from brido.utils.errors import BridoError

TEXTS = [f"Confidential document {number}: what of the bridge?" for number in range(12)]
PAID = (USAGE["prompt_tokens"], USAGE["completion_tokens"])


def answering(served: Served) -> BadEndpoint:
    return BadEndpoint(respond=lambda body: (served.status, served.body))


OVERLOADED = [served for served in RESPONSES if served.read == "HTTP 429"]
OTHERS = [served for served in RESPONSES if served not in OVERLOADED]


@pytest.mark.parametrize("served", OTHERS, ids=[served.server for served in OTHERS])
def test_the_answers_of_real_servers(asking, served):
    """A call a question, whatever comes; what can be read is kept, what was paid is counted."""
    with answering(served) as server, asking.client(server, max_attempts=1) as client:
        plan = asking.plan(client, TEXTS[:2])
        client.ask(plan)
        answers = [client.answers(key, 1) for key in plan.keys]
        usage = 2 * PAID[0] * ("usage" in served.body), 2 * PAID[1] * ("usage" in served.body)
        assert client.store.usage(client.model)[1:] == usage
        assert (client.budget.prompt_tokens, client.budget.answer_tokens) == usage
        assert len(server.requests) == 2
        if isinstance(served.read, str):
            assert answers == [{}, {}]
            (trouble,) = client.report.trouble
            assert trouble.startswith(served.read)
            assert ("too long" in trouble) == ("too long" in served.read)
            assert client.report.given_up == 2
        else:
            for (answer,) in (found.values() for found in answers):
                assert (answer.text, answer.ending, answer.ended) == served.read


@pytest.mark.parametrize("served", OVERLOADED, ids=[served.server for served in OVERLOADED])
def test_an_overload_that_is_said_in_a_body_is_waited_for(asking, served):
    with answering(served) as server, pytest.raises(BridoError, match="HTTP 429"):
        asking(server, TEXTS[:1], patience_seconds=0.8, max_attempts=1)
    assert len(server.requests) > 1


@pytest.mark.parametrize("served", [one for one in RESPONSES if "usage" in one.body],
                         ids=lambda served: served.server)  # fmt: skip
def test_nothing_is_paid_past_the_budget(asking, served):
    with answering(served) as server:
        with pytest.raises(BridoError, match=r"max_tokens \(100\).* of the 12 answers") as reached:
            asking(server, TEXTS, max_tokens=100, answer_limit=8, max_concurrency=1)
        assert len(server.requests) <= 100 // sum(PAID)
        came = 0 if isinstance(served.read, str) else len(server.requests)
        assert f" {came} of the 12 answers" in str(reached.value)


def test_what_is_empty_is_asked_for_again_by_the_next_run_and_both_are_counted(asking):
    bodies = iter([completion("", "stop"), completion(" \n", None), completion("At last.")])
    with BadEndpoint(respond=lambda body: (200, next(bodies))) as server:
        assert asking(server, TEXTS[:1]) == [{0: ""}]
        assert asking(server, TEXTS[:1], replay=True) == [{0: ""}]
        assert asking(server, TEXTS[:1]) == [{0: " \n"}]
        assert asking(server, TEXTS[:1]) == [{0: "At last."}]
        assert asking(server, TEXTS[:1]) == [{0: "At last."}]
        assert len(server.requests) == 3
    with asking.client() as client:
        characters = 3 * len(TEXTS[0])
        assert client.store.usage(client.model) == (characters, 3 * PAID[0], 3 * PAID[1])


def test_an_answer_without_words_that_was_cut_or_refused_is_final(asking):
    for reason in ("length", "MAX_TOKENS", "content_filter"):
        with BadEndpoint(respond=lambda body, r=reason: (200, completion("", r))) as server:
            for _ in range(2):
                asking(server, [f"What of {reason}?"])
            assert len(server.requests) == 1


def test_several_choices_of_one_call_share_its_tokens():
    body = completion("one")
    body["choices"] = [{"message": {"content": text}} for text in ("one", "two", "three", "four")]
    answers = read_response(json.dumps(body).encode(), 3)
    assert [answer.text for answer in answers] == ["one", "two", "three"]
    assert [answer.prompt_tokens for answer in answers] == [PAID[0], 0, 0]
    assert sorted(answer.answer_tokens for answer in answers) == [2, 2, 4]


def test_choices_of_one_call_pay_the_prompt_once(asking):
    with BadEndpoint(most_choices=8) as server, asking.client(server, {"seed": 3}) as client:
        client._choices = 3
        plan = asking.plan(client, TEXTS[:2], samples=4)
        client.ask(plan)
        assert sorted(body.get("n", 1) for body in server.requests) == [1, 1, 3, 3]
        for text, key in zip(TEXTS, plan.keys, strict=False):
            answers = client.answers(key, 4)
            assert [answers[n].text for n in range(4)] == [
                plain_answer(f"{text} {3 + n}") for n in range(4)
            ]
        assert client.report.prompt_tokens == 2 * (len(TEXTS[0]) // 5) * 2


@pytest.mark.parametrize(
    "how", [{"most_choices": 1}, {"most_choices": 2}, {"refuse_fields": ("n",)}]
)
def test_a_server_that_gives_fewer_choices_is_asked_for_one_at_a_time(asking, capfd, how):
    with BadEndpoint(**how) as server, asking.client(server, max_concurrency=1) as client:
        client._choices = 4
        plan = asking.plan(client, TEXTS[:3], samples=4)
        client.ask(plan)
        assert [len(client.answers(key, 4)) for key in plan.keys] == [4, 4, 4]
        assert [body.get("n", 1) for body in server.requests][:1] == [4]
        assert {body.get("n", 1) for body in server.requests[1:]} == {1}
    assert capfd.readouterr().err.count("choices_per_call") == 1


def test_a_prompt_that_a_filter_refuses_ends_the_choices_of_no_other(asking, capfd):
    """Its call failed, so the others paid their prompt once for each candidate."""
    how = {"most_choices": 8, "always": {"document 0:": 400}}
    with BadEndpoint(**how) as server, asking.client(server, max_concurrency=1) as client:
        client._choices = 4
        plan = asking.plan(client, TEXTS[:3], samples=4)
        client.ask(plan)
        assert [len(client.answers(key, 4)) for key in plan.keys] == [0, 4, 4]
        assert [body.get("n", 1) for body in server.requests] == [4, 1, 4, 4]
        assert client.report.given_up == 4
    assert "choices_per_call" not in capfd.readouterr().err


def test_a_schema_that_a_server_does_not_know_ends_the_run_with_the_key(asking):
    served = next(one for one in RESPONSES if "a schema" in one.server)
    parameters = {"response_format": {"type": "json_schema"}}
    with answering(served) as server:
        with pytest.raises(BridoError, match="HTTP 500.* about response_format.*structured_output"):
            asking(server, TEXTS[:8], parameters=parameters)
        assert len(server.requests) <= 3 * 8
        # One line of the server's words is there for those who ask.
        with pytest.raises(BridoError, match="literal_error"):
            asking(server, TEXTS, parameters={"response_format": {}}, show_content=True)


# LM Studio says the last one at an address without /v1.
@pytest.mark.parametrize("content", [{"choices": 3}, {}, {"error": "Unexpected endpoint"}])
def test_equal_failures_and_no_answer_end_the_run(asking, content):
    with BadEndpoint(respond=lambda body: (200, content)) as server:
        expected = r"^generation\.big: every call fails \((malf|an err).*base_url.*/v1"
        with pytest.raises(BridoError, match=expected):
            asking(server, TEXTS)
        assert len(server.requests) <= 3 * len(TEXTS)


def test_a_code_that_is_the_status_is_not_said_twice(asking):
    how = {"respond": lambda body: (404, error(404))}
    with BadEndpoint(**how) as server, pytest.raises(BridoError, match=r"\(HTTP 404\)"):
        asking(server, TEXTS[:1])


def test_only_answered_questions_move_the_bar(asking):
    moved = []

    class Bar:
        advance = moved.append

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    with BadEndpoint(always={"document 3": 413}) as server, asking.client(server) as client:
        client.ask(asking.plan(client, TEXTS), lambda *_: Bar())
    assert sum(moved) == len(TEXTS) - 1


def test_a_slow_server_gets_fewer_calls_at_once_and_answers_all(asking, capfd, monkeypatch):
    """It works on one call after another, on those that were given up as well."""
    monkeypatch.setattr("brido.endpoint.asking._FIRST_WAIT", 0.5)
    with BadEndpoint(serial=True, latency=0.1) as server:
        answers = asking(server, TEXTS, timeout_seconds=0.35, max_concurrency=12, max_attempts=8)
        assert answers == [{0: plain_answer(f"{text} 0")} for text in TEXTS]
        assert len(server.requests) <= 4 * len(TEXTS)
    said = capfd.readouterr().err
    assert "max_concurrency" in said
    assert "timeout_seconds" in said


def test_waiting_for_a_server_is_said_once(asking, capfd, monkeypatch):
    monkeypatch.setattr("brido.endpoint.asking._SILENCE", 0.2)
    with BadEndpoint() as server:
        pass
    with pytest.raises(BridoError, match="patience_seconds"):
        asking(server, TEXTS, patience_seconds=1.0)
    said = capfd.readouterr().err
    assert said.count("server unreachable): asking again for 1 s") == 1
