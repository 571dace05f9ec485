"""What is refused before a server is asked, and what a server does that stops a run."""

import pytest
from bad_endpoint import BadEndpoint
from server_responses import completion, error

from brido.endpoint.settings import EndpointRuntime, runtime_problems
from brido.settings.load import check_params
from brido.utils.errors import BridoError

BASE = {"checkpoints": {"base": {"source": "embedded"}}}
SERVED = {"method": "endpoint", "checkpoint": "none", "model": "m"}
TEXTS = [f"Confidential document {number}: what of the bridge?" for number in range(12)]


def asked(endpoint=None, reading=None, extra=None):
    """params.yaml with a source that asks a server, and with a judge."""
    source = SERVED | {"extra_parameters": extra or {}}
    return BASE | {
        "runtime": {"endpoint": endpoint or {}},
        "generation": {"big": source},
        "reading": {"big": reading or {"prompt": "{{ document }}"}},
        "evaluation": {"geval": {"extra_parameters": extra or {}}},
    }


REFUSED = [
    *(({"endpoint": {"base_url": url}}, "runtime.endpoint.base_url: ") for url in (
        "http://localhost:99999/v1", "http://", "http://[::1/v1", "http://half\ud800/v1",
        "http://{host}/v1", "ftp://localhost/v1", "http://localhost:8000/v 1", "http://h/v1#m",
        "https://a.openai.azure.com/openai/deployments/m?api-version=2024-06-01",
    )),
    *(({"endpoint": {"base_url": f"{url}@localhost:8000/v1"}}, "api_key_env") for url in (
        "https://me:geheim", "me:geheim", "http://me:ge/heim", "http://geheim",
    )),
    ({"extra": {"logit_bias": {50256: float("nan")}}}, "as JSON"),
    ({"extra": {"user": "half \ud800"}}, "surrogate"), ({"extra": {"n": 3}}, "n cannot"),
    ({"extra": {"stop": {1, 2}}}, "as JSON"),
    *(({"reading": {"prompt": prompt}}, "reading.big.prompt") for prompt in (
        "Write a summary.", "{{ summary }}", "{{ document", "Shorten: {{ document[:2000] }}",
        "\ud800 {{ document }}",
    )),
    ({"reading": {"prompt": "{{ document }}", "system": "half \ud800"}}, "reading.big.system"),
]  # fmt: skip


@pytest.mark.parametrize(("sections", "said"), REFUSED)
def test_what_is_refused_before_anything_is_asked(sections, said):
    with pytest.raises(BridoError) as caught:
        check_params(asked(**sections))
    message = str(caught.value)
    assert said in message
    assert "geheim" not in message
    if "extra" in sections:
        assert message.count(said) == 2
        assert "evaluation.geval" in message
        assert "generation.big" in message


def test_an_address_may_have_an_at_sign_in_its_path():
    address = "https://gateway.example/@team/v1"
    params = check_params(asked({"base_url": address}))
    assert params.runtime.endpoint.base_url == address


@pytest.mark.parametrize(("address", "said"), [(None, True), ("http://localhost:1/v1", False)])
def test_a_missing_key_says_base_url_where_none_is_set(address, said):
    endpoint = EndpointRuntime(base_url=address, api_key_env="NO_SUCH_KEY")
    (problem,) = runtime_problems(endpoint)
    assert "NO_SUCH_KEY" in problem
    assert ("base_url" in problem) == said


def test_a_key_has_no_sign_by_which_an_error_could_show_it(monkeypatch):
    """Errors quote a server with the key replaced: no quote or backslash may hide it there."""
    endpoint = EndpointRuntime(base_url="http://localhost:1/v1", api_key_env="BIG_KEY")
    for key in ("two words", "a\nb", "it's", 'a"b', "a\\b", "é", ""):
        monkeypatch.setenv("BIG_KEY", key)
        (problem,) = runtime_problems(endpoint)
        assert not key or key not in problem
    monkeypatch.setenv("BIG_KEY", "sk-proj_A.b~c+d/e=:[x]!{}")
    assert runtime_problems(endpoint) == []


MAX_TOKENS = error(
    "unsupported_parameter", type="invalid_request_error", param="max_tokens",
    message="Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
)  # fmt: skip
# How the server is, how it is asked, what the message says (a pattern), and how many calls at most.
STOPS = [
    *(({"always": {"bridge": status}}, {"max_concurrency": 1}, f"HTTP {status} some_code", 1)
      for status in (401, 402, 403, 404)),
    # A code that is the status is not said twice.
    ({"respond": lambda body: (404, error(404))}, {}, r"\(HTTP 404;", 12),
    ({"always": {"bridge": 400}}, {}, r"\(HTTP 400 some_code\).*null", 12),
    ({"respond": lambda body: (400, MAX_TOKENS)}, {},
     r"HTTP 400 unsupported_parameter, about max_tokens.*max_answer_tokens: null.*"
     r"\{max_completion_tokens: 256\}", 12),
    # What is not the protocol names the address; LM Studio says the third without /v1.
    *(({"respond": lambda body, content=content: (200, content)}, {"max_attempts": 3},
       "malformed response.*base_url.*/v1", 36)
      for content in ({"choices": 3}, {}, {"error": "Unexpected endpoint"})),
    ({"trouble": 1.0, "troubles": ("page",)}, {"max_attempts": 2}, "malformed response.*base_url",
     24),
    # Paid for, and nothing to read.
    ({"respond": lambda body: (200, completion(7))}, {"max_concurrency": 1},
     r"every call fails \(response without an answer\).*log.*generation\.big\.model", 10),
    # It wants an hour.
    ({"trouble": 1.0, "troubles": ("429 after",), "retry_after": "3600"},
     {"patience_seconds": 0.5}, "patience_seconds", 99),
    # A budget needs the tokens that were paid.
    ({"tokens": (-1000, 30)}, {"max_tokens": 10**6, "max_concurrency": 1}, "max_cost, max_tok", 1),
    ({"usage": False}, {"max_tokens": 10**6, "max_concurrency": 1}, "max_cost, max_tokens", 1),
]  # fmt: skip


@pytest.mark.parametrize(("how", "runtime", "said", "calls"), STOPS)
def test_what_no_call_can_get_over_stops_the_run(asking, how, runtime, said, calls):
    with BadEndpoint(**how) as server:
        with pytest.raises(BridoError, match=rf"^generation\.big: .*{said}"):
            asking(server, TEXTS, **runtime)
        assert len(server.requests) <= calls


@pytest.mark.parametrize("response", [(400, error(400)), (200, completion(7))])
def test_texts_that_no_run_gets_an_answer_to_do_not_stop_the_next(asking, response):
    """It asks them again, and ends as the first did: the answers in the store say what works."""
    others, usual = [f"Text {number}." for number in range(20)], (200, completion("A summary."))
    respond = lambda body: response if "bridge" in str(body) else usual  # noqa: E731
    with BadEndpoint(respond=respond) as server:
        first = asking(server, [*others, *TEXTS], max_concurrency=1)
        assert first == [{0: "A summary."}] * len(others) + [{}] * len(TEXTS)
        assert asking(server, [*others, *TEXTS]) == first
        assert len(server.requests) == len(others) + 2 * len(TEXTS)


def test_a_server_that_is_away_is_an_error(asking):
    with BadEndpoint() as server:
        pass
    with pytest.raises(BridoError, match=r"generation\.big: .*server unreachable.*base_url"):
        asking(server, TEXTS, patience_seconds=0.5)
