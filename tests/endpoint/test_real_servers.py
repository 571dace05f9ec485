"""What real servers answer is read, counted and kept; their errors say what helps."""

import pytest
from bad_endpoint import BadEndpoint
from server_responses import RESPONSES, USAGE, Served, completion, error

from brido.utils.errors import BridoError

TEXTS = [f"Confidential document {number}: what of the bridge?" for number in range(12)]
PAID = (USAGE["prompt_tokens"], USAGE["completion_tokens"])


def answering(served: Served) -> BadEndpoint:
    return BadEndpoint(respond=lambda body: (served.status, served.body))


STOPPING = [served for served in RESPONSES if served.read == "HTTP 403"]
OTHERS = [served for served in RESPONSES if served not in STOPPING]


@pytest.mark.parametrize("served", OTHERS, ids=[served.server for served in OTHERS])
def test_the_answers_of_real_servers(asking, served):
    """A call a question, whatever comes; what can be read is kept, what was paid is counted."""
    with answering(served) as server, asking.client(server, max_attempts=1) as client:
        plan = asking.plan(client, TEXTS[:2])
        client.ask(plan)
        answers = [client.answers(key, 1) for key in plan.keys]
        paid = 2 * ("usage" in served.body)
        usage = paid * PAID[0], paid * PAID[1]
        assert client.store.usage(client.model)[1:] == usage
        assert (client.budget.prompt_tokens, client.budget.answer_tokens) == usage
        assert len(server.requests) == 2
        if isinstance(served.read, str):
            assert answers == [{}, {}]
            (trouble,) = client.report.trouble
            assert trouble.startswith(served.read)
            assert client.report.given_up.total() == 2
        else:
            for (answer,) in (found.values() for found in answers):
                assert (answer.text, answer.ending, answer.ended) == served.read


@pytest.mark.parametrize("served", STOPPING, ids=[served.server for served in STOPPING])
def test_forbidden_means_the_key_until_an_answer_came_and_then_the_prompt(asking, served):
    with (
        answering(served) as server,
        pytest.raises(BridoError, match="HTTP 403.*api_key_env|api_key"),
    ):
        asking(server, TEXTS[:1])
    with BadEndpoint(
        respond=lambda body: (
            (served.status, served.body)
            if "document 1:" in body["messages"][0]["content"]
            else None
        )
    ) as server:
        assert asking(server, TEXTS[:2], max_concurrency=1)[1] == {}


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


def test_an_answer_as_long_as_its_limit_was_cut_whatever_the_server_says(asking):
    with BadEndpoint(tokens=(20, 64)) as server:
        for limit, ended in ((64, False), (65, True)):
            with asking.client(server, answer_limit=limit) as client:
                plan = asking.plan(client, TEXTS[:1])
                client.ask(plan)
                assert client.answers(plan.keys[0], 1)[0].ended == ended


def test_a_prompt_that_a_filter_refuses_is_counted_and_never_asked_again(asking, capfd):
    refused = error("content_filter", param="prompt", message="The prompt triggered a filter.")

    def respond(body):
        return (400, refused) if "document 1:" in body["messages"][0]["content"] else None

    with BadEndpoint(respond=respond) as server:
        for _ in range(2):
            assert asking(server, TEXTS[:3])[1] == {0: ""}
        assert len(server.requests) == 3
    assert "1 of them refused" in capfd.readouterr().err
