"""A real server that is not ours: `transformers serve` with a tiny instruct model."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.errors import BridoError

pytestmark = pytest.mark.slow  # the server takes 10 to 30 s to start

DOCUMENTS = ["the old bridge", "river", "mayor opened the new bridge in 1994", "closed"]
SUMMARIES = ["old bridge", "the river", "bridge opened", "it closed in 1994"]


@pytest.fixture(scope="module")
def served(instruct_model, tmp_path_factory):
    """The base URL of a running server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve"]
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    home = tmp_path_factory.mktemp("hub")
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home),
        "OMP_NUM_THREADS": "1",
    }
    log = (home / "log").open("w")
    process = subprocess.Popen(
        [*command, str(instruct_model), *options], env=environment, stdout=log, stderr=log
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, home / "log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def _wait_for(url, process, log):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(log.read_text())


@pytest.fixture
def judge(served, tmp_path, instruct_model, short_prompt):
    def make(runtime=None, **settings):
        chosen = {"model": str(instruct_model), "prompt": short_prompt, "max_answer_tokens": 20}
        where = {"store": str(tmp_path / "answers.sqlite"), "base_url": served}
        return GEval(
            GEvalSettings(**{**chosen, **settings}), EndpointRuntime(**where, **(runtime or {}))
        )

    return make


def test_greedy_marks_usage_and_the_model_as_the_server_names_it(
    judge, taught_marks, instruct_model
):
    # The checkpoint's own habit of sampling is on; temperature 0 must win.
    evaluation = judge(score_mode="greedy").score(DOCUMENTS, SUMMARIES)
    for row in evaluation.rows:
        assert {name: row[name] for name in CRITERIA} == taught_marks
    signature = evaluation.signature
    (name,) = signature["served_models"]
    assert str(instruct_model) in name
    prompts = [
        f"<|user|>Source: {document}\nSummary: {summary}\nMarks:<|end|><|assistant|>"
        for document, summary in zip(DOCUMENTS, SUMMARIES, strict=True)
    ]
    special = len("<|user|>") + len("<|end|>") + len("<|assistant|>") - 3
    assert signature["prompt_tokens"] == sum(len(prompt) - special for prompt in prompts)
    assert 4 * 9 <= signature["answer_tokens"] <= 4 * 10
    assert judge({"replay": True}, score_mode="greedy").score(DOCUMENTS, SUMMARIES) == evaluation


def test_the_mean_of_samples(judge):
    settings = {"score_mode": "mean", "samples": 4, "max_invalid_fraction": 0.5}
    evaluation = judge({"max_concurrency": 4}, **settings).score(DOCUMENTS, SUMMARIES)
    assert evaluation.signature["answers"] == 16
    assert {row["consistency"] for row in evaluation.rows} == {5.0}


def test_log_probabilities_that_the_server_leaves_out_are_an_error(judge):
    with pytest.raises(BridoError, match="probability needs log-probabilities"):
        judge(score_mode="probability").score(DOCUMENTS, SUMMARIES)


def test_a_field_that_the_server_does_not_know(judge):
    settings = {"score_mode": "greedy", "extra_parameters": {"no_such_field": 1}}
    with pytest.raises(BridoError, match=r"HTTP 422"):
        judge(**settings).score(DOCUMENTS, SUMMARIES)
