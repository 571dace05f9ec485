"""A real server that is not ours: `transformers serve` with a tiny chat model."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_chat import chat_tokenizer, tiny_llama

from brido.endpoint import AskedModel, Client
from brido.endpoint.settings import EndpointRuntime

pytestmark = [
    pytest.mark.slow,  # the server takes 10 to 30 s to start
    pytest.mark.skipif(
        None in map(importlib.util.find_spec, ("fastapi", "uvicorn")),
        reason="needs fastapi and uvicorn",
    ),
]
TEXTS = ["the cat", "in the cat sat", "cat"]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the model of a folder, whose path is its name there; yields the base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    options = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--device", "cpu"]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([*command, *options], env=environment) as process:
        try:
            deadline = time.monotonic() + 300
            while not _is_up(f"{address}/health"):
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not come up"
                time.sleep(0.2)
            yield f"{address}/v1"
        finally:
            process.terminate()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The base URL of a running server, and the model's name there."""
    folder = tmp_path_factory.mktemp("chat")
    tiny_llama().save_pretrained(folder)
    chat_tokenizer().save_pretrained(folder)
    with serving(folder) as address:
        yield address, str(folder)


def ask(served, store, **parameters):
    address, name = served
    runtime = EndpointRuntime(base_url=address, max_attempts=2)
    model = AskedModel(name, None, {"max_tokens": 6, "temperature": 0.0, **parameters})
    with Client("generation.big", model, store, runtime) as client:
        prompts = [(model, [{"role": "user", "content": text}]) for text in TEXTS]
        plan = client.plan(prompts, 2)
        client.ask(plan)
        return [client.answers(key, 2) for key in plan.keys], client.report


def test_answers_usage_and_the_name_that_the_server_gives(served, tmp_path):
    answers, report = ask(served, tmp_path / "a.sqlite")
    assert report.answers == 6
    for text, found in zip(TEXTS, answers, strict=True):
        chat = [{"role": "user", "content": text}]
        prompt = chat_tokenizer().apply_chat_template(chat, add_generation_prompt=True)["input_ids"]
        for answer in found.values():
            assert (answer.prompt_tokens, answer.text) == (len(prompt), found[0].text)
            assert 1 <= answer.answer_tokens <= 6
            assert served[1] in answer.served_model
    assert ask(served, tmp_path / "a.sqlite")[1].calls == 0


def test_a_field_that_the_server_does_not_know(served, tmp_path):
    answers, report = ask(served, tmp_path / "a.sqlite", no_such_field=1)
    assert report.trouble == {"HTTP 422": 6}
    assert answers == [{}, {}, {}]
