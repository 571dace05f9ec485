"""The contract: a model is asked, every answer is kept, and nothing is paid for twice."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from bad_endpoint import BadEndpoint, plain_answer

from brido.endpoint import Answer
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


@pytest.mark.parametrize(("honoured", "calls"), [(100, 2), (2, 3), (1, 5)])
def test_several_samples_a_call_whatever_the_server_makes_of_it(asking, honoured, calls):
    with BadEndpoint(choices_per_call=honoured) as server:
        (answers,) = asking(server, TEXTS[:1], samples=5, samples_per_call=4)
    assert sorted(answers) == [0, 1, 2, 3, 4]
    assert len(server.requests) == calls


def test_an_answer_says_how_it_ended_who_gave_it_and_what_it_took(asking):
    with BadEndpoint() as server, asking.client(server) as client:
        plan = asking.plan(client, TEXTS[:1])
        client.ask(plan.questions())
        text = plain_answer(f"{TEXTS[0]} 0")
        taken = (len(TEXTS[0]) // 5, 30)
        assert client.answers(plan.keys[0], 1) == {
            0: Answer(text, "stop", False, "m-as-served", *taken)
        }


def test_a_question_without_an_answer_is_left_out_and_asked_the_next_time(asking):
    with BadEndpoint(always={"bridge 3": 413}) as server:
        answers = asking(server, TEXTS)
        assert [number for number, answer in enumerate(answers) if not answer] == [3]
        server.always.clear()
        assert asking(server, TEXTS)[3] == {0: plain_answer(f"{TEXTS[3]} 0")}
        assert len(server.requests) == 9


def test_replay_needs_no_server_and_a_store(asking):
    with pytest.raises(BridoError, match="there is no store of answers"):
        asking.client(replay=True)
    with BadEndpoint() as server:
        asking(server, TEXTS[:1])
    with asking.client(replay=True) as client:
        plan = asking.plan(client, TEXTS[:2])
        assert (len(client.answers(plan.keys[0], 1)), plan.answers) == (1, 1)


def test_a_forecast_counts_calls_tokens_and_cost(asking):
    prices = {"input_price": 1000.0, "output_price": 1e6}
    with asking.client(answer_limit=50, samples_per_call=2, **prices) as client:
        plan = asking.plan(client, ["x" * 400, "y" * 400, "y" * 400], samples=3)
        text = client.forecast(plan, likely_answer=10)
    # Two questions of three answers, two a call: 2 x 2 calls of 400 / 4 + 1 tokens.
    assert "calls to make:  4 for 6 answers (0 more are in the store)" in text
    assert "prompt tokens:  about 404" in text
    assert "answer tokens:  about 60, at most 300" in text
    assert f"cost:           about {0.404 + 60:.2f}, at most about {0.404 + 300:.2f}" in text


def test_what_a_budget_allows_is_asked_however_many_ask_at_once(asking):
    with BadEndpoint(latency=0.05) as server:
        with pytest.raises(BridoError, match="max_tokens"):
            asking(server, TEXTS, answer_limit=60, max_tokens=300)
        # 300 tokens are four answers of at most 60 with their prompts.
        assert len(server.requests) == 4


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
            client.ask(plan.questions())
            return [client.answers(key, 1)[0].text for key in plan.keys]

    with BadEndpoint(latency=0.05) as server, ThreadPoolExecutor(2) as threads:
        first, second = threads.map(run, [server, server])
        assert first == second == [plain_answer(f"{text} 0") for text in TEXTS]
        assert len(server.requests) == len(TEXTS)
    assert "generation.big: another run asks m, waiting for its end" in capfd.readouterr().err


def test_on_a_full_disk_what_was_paid_for_is_kept_and_no_more_is_asked(asking, monkeypatch):
    """The disk is played by SQLite's own limit of pages, which giving up the reserve lifts."""
    with BadEndpoint(answer=lambda question: "x" * 20_000, latency=0.02) as server:
        client = asking.client(server, max_concurrency=4)
        connection = client.store._connection
        connection.execute("PRAGMA max_page_count=20")
        append = client.store._append

        def append_on_a_full_disk(rows):
            if client.store._reserved.closed:
                connection.execute("PRAGMA max_page_count=100000")
            append(rows)

        monkeypatch.setattr(client.store, "_append", append_on_a_full_disk)
        with client, pytest.raises(BridoError, match="full.*free some space"):
            client.ask(asking.plan(client, TEXTS * 2 + [f"{t}!" for t in TEXTS]).questions())
        with sqlite3.connect(asking.store) as kept:
            assert kept.execute("SELECT COUNT(*) FROM answers").fetchone() == (
                len(server.requests),
            )
        assert 1 < len(server.requests) < 16


def test_without_room_for_what_is_in_flight_nothing_is_asked(asking, monkeypatch):
    monkeypatch.setattr("brido.endpoint.client._ROOM_OF_A_CALL", 2**62)
    monkeypatch.setattr("os.urandom", lambda size: b"")
    with BadEndpoint() as server:
        with pytest.raises(BridoError, match="No space left"):
            asking(server, TEXTS)
        assert server.requests == []
