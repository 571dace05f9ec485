"""The contract: a model is asked, every answer is kept, and nothing is paid for twice."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from bad_endpoint import BadEndpoint, plain_answer

from brido.endpoint import AskedModel
from brido.endpoint.budget import Budget
from brido.endpoint.settings import EndpointRuntime
from brido.utils.errors import BridoError

TEXTS = [f"What of bridge {number}?" for number in range(8)]


def test_every_text_has_its_own_answers_and_nothing_is_asked_twice(asking):
    with BadEndpoint() as server:
        answers = asking(server, TEXTS, samples=2, parameters={"seed": 3})
        expected = [{n: plain_answer(f"{text} {3 + n}") for n in range(2)} for text in TEXTS]
        assert answers == expected
        assert asking(server, TEXTS, samples=2, parameters={"seed": 3}) == expected
        assert len(server.requests) == 16
        # More samples: the new ones alone. The same text twice: one question.
        asking(server, [*TEXTS, TEXTS[0]], samples=3, parameters={"seed": 3})
        assert sorted(body["seed"] for body in server.requests[16:]) == [5] * 8
        # Another parameter makes another question.
        asking(server, TEXTS[:1], parameters={"seed": 3, "temperature": 0.5})
        assert len(server.requests) == 25


def test_a_budget_is_overrun_by_no_more_than_the_calls_in_flight(asking):
    texts = [f"What of bridge {number}?" for number in range(10, 40)]
    with BadEndpoint(latency=0.05) as server:
        with pytest.raises(BridoError, match="max_tokens"):
            asking(server, texts, answer_limit=60, max_tokens=300, max_concurrency=4)
        # Eight calls take 33 tokens each; a ninth might take 60 and its prompt.
        assert 8 <= len(server.requests) <= 8 + 3


def test_prompts_and_answers_have_their_own_prices():
    runtime = EndpointRuntime(input_price=2.0, output_price=10.0)
    budget = Budget(runtime, 60, (0, 0, 0))
    assert (budget.cost(10**6, 0), budget.cost(0, 10**6)) == (2.0, 10.0)


def test_a_replay_without_a_store_is_refused_and_makes_none(asking):
    with pytest.raises(BridoError, match="no store of answers"):
        asking.client(replay=True)
    assert not asking.store.exists()


def test_the_longest_answer_is_what_the_request_says():
    for sent, limit in (({"max_tokens": 7}, 7), ({"max_completion_tokens": 9}, 9), ({}, None)):
        assert AskedModel("m", None, sent).answer_limit == limit


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_a_budget_is_kept_and_the_section_is_named(asking, limit):
    prices = {"input_price": 1e6, "output_price": 1e6}
    with BadEndpoint() as server:
        expected = rf"^generation\.big: runtime\.endpoint\.{limit} \(200\) is reached: "
        with pytest.raises(BridoError, match=expected):
            asking(server, TEXTS, answer_limit=60, max_concurrency=1, **{limit: 200}, **prices)
        asked = len(server.requests)
        spent = sum(len(body["messages"][0]["content"]) // 5 + 30 for body in server.requests)
        assert 3 <= asked < 8
        assert spent <= 200
        # What was paid before counts in the next run.
        with pytest.raises(BridoError, match=expected):
            asking(server, TEXTS, answer_limit=60, **{limit: 200}, **prices)
        assert len(server.requests) == asked


def test_two_runs_at_once_pay_once(asking, capfd):
    planned = threading.Barrier(2)

    def run(server):
        with asking.client(server) as client:
            plan = asking.plan(client, TEXTS)
            planned.wait(30)
            client.ask(plan)
            return [client.answers(key, 1)[0].text for key in plan.keys]

    with BadEndpoint(latency=0.05) as server, ThreadPoolExecutor(2) as threads:
        first, second = threads.map(run, [server, server])
        assert first == second == [plain_answer(f"{text} 0") for text in TEXTS]
        assert len(server.requests) == len(TEXTS)
    assert "generation.big: another run is asking m: " in capfd.readouterr().err
