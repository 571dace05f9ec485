"""What params.yaml says of servers, and what is refused before anything is asked."""

import pytest

from brido.settings.load import check_params
from brido.utils.errors import BridoError

BASE = {"checkpoints": {"base": {"source": "embedded"}}}
SERVED = {"method": "endpoint", "checkpoint": "none", "model": "m"}


def refused(**sections):
    with pytest.raises(BridoError) as error:
        check_params(BASE | sections)
    return str(error.value)


URLS = [
    "http://localhost:99999/v1", "http://localhost:0/v1", "http://", "http://[::1/v1",
    "http://half\ud800/v1", "http://{host}/v1", "ftp://localhost/v1", "http://localhost:8000/v 1",
    "https://a.openai.azure.com/openai/deployments/m?api-version=2024-06-01", "http://h/v1#m",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_an_address_that_is_none(url):
    assert "runtime.endpoint.base_url: " in refused(runtime={"endpoint": {"base_url": url}})


def test_a_password_in_the_address_is_refused_and_not_shown():
    said = refused(runtime={"endpoint": {"base_url": "https://me:geheim@localhost:8000/v1"}})
    assert "runtime.endpoint.base_url" in said
    assert "api_key_env" in said
    assert "geheim" not in said


@pytest.mark.parametrize("url", ["http://[::1]:8000/v1", "https://api.example.com", "http://h_1/"])
def test_an_address_is_taken_and_answers_have_their_place(url):
    params = check_params(BASE | {"runtime": {"endpoint": {"base_url": url}}})
    assert params.runtime.endpoint.store == ".brido/judge/answers.sqlite"


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"logit_bias": {50256: float("nan")}}, "as JSON"),
        ({"logit_bias": float("inf")}, "as JSON"),
        ({"user": "half \ud800"}, "surrogate"),
        ({"half \ud800": 1}, "surrogate"),
        ({"stop": {1, 2}}, "as JSON"),
        ({"n": 3}, "n cannot"),
    ],
)
def test_a_field_that_cannot_be_sent(extra, said):
    sections = {
        "evaluation": {"geval": {"extra_parameters": extra}},
        "generation": {"big": SERVED | {"extra_parameters": extra}},
        "reading": {"big": {"prompt": "{{ document }}"}},
    }
    text = refused(**sections)
    assert "evaluation.geval" in text
    assert "generation.big" in text
    assert text.count(said) == 2


@pytest.mark.parametrize(
    ("reading", "key"),
    [
        ({"prompt": "Write a summary."}, "reading.big.prompt"),
        ({"prompt": "{{ summary }}"}, "reading.big.prompt"),
        ({"prompt": "{{ document"}, "reading.big.prompt"),
        ({"prompt": "Shorten: {{ document[:2000] }}"}, "reading.big.prompt"),
        ({"prompt": "\ud800 {{ document }}"}, "reading.big.prompt"),
        ({"prompt": "{{ document }}", "system": "half \ud800"}, "reading.big.system"),
    ],
)
def test_a_prompt_that_asks_the_same_asks_a_part_or_cannot_be_sent(reading, key):
    assert key in refused(generation={"big": SERVED}, reading={"big": reading})


def test_samples_that_would_all_be_the_same_are_refused():
    assert "temperature" in refused(evaluation={"geval": {"temperature": 0.0}})
