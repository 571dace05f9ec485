"""Data sets of the hub, through the real loading code against a loopback hub."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from brido import tables

XSUM = {"id": "EdinburghNLP/xsum", "revision": "refs/convert/parquet"}
CNNDM = {
    "id": "abisee/cnn_dailymail",
    "config": "3.0.0",
    "document_column": "article",
    "summary_column": "highlights",
}
# Tries several settings in one process and prints what each refusal says.
ATTEMPTS = """
import json, sys
from brido.corpus.hub_datasets import HubSource
from brido.utils.errors import BridoError
from brido.corpus.settings import HubSettings
for settings in json.loads(sys.argv[1]):
    try:
        HubSource(HubSettings.model_validate(settings))
        message = "accepted"
    except BridoError as error:
        message = str(error)
    print(json.dumps(message))
"""


def write_params(folder: Path, hub: dict, **data: object) -> None:
    """A params.yaml (JSON is YAML) that downloads this data set."""
    params = {
        "data": {"source": "hub", "hub": hub, **data},
        "evaluation": {"metrics": ["rouge", "mentions"], "rouge": {}, "mentions": {}},
        "checkpoints": {"base": {"source": "embedded", "embedded": {"world": None}}},
    }
    (folder / "params.yaml").write_text(json.dumps(params))


def test_xsum_is_fetched_once_and_then_read_without_a_network(hub, hub_folder, run_stage, tmp_path):
    server, address = hub
    counts = {"train": 32, "validation": 8, "test": 8}
    write_params(tmp_path, XSUM)
    first = run_stage("stages.download", HF_ENDPOINT=address)
    assert first.returncode == 0, first.stderr
    corpus = tmp_path / "data" / "corpus"
    for split, count in counts.items():
        served = pq.read_table(hub_folder[1] / "xsum" / "default" / split / "0000.parquet")
        rows = tables.read_rows(corpus / f"{split}.parquet", tables.CORPUS, "")
        assert [(row["id"], row["document"], row["summary"]) for row in rows] == [
            (row["id"], row["document"], row["summary"]) for row in served.to_pylist()
        ]
        assert len(rows) == count
    commit = server.repositories["datasets", XSUM["id"]].commit
    assert json.loads((corpus / "source.json").read_text())["commit"] == commit
    assert tables.read_metadata(corpus / "test.parquet", "")["commit"] == commit

    server.requests.clear()
    write_params(tmp_path, XSUM, lowercase=True, max_documents=5)
    again = run_stage("stages.download", HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert json.loads((corpus / "source.json").read_text())["commit"] == commit
    assert not server.requests
    lower = tables.read_rows(corpus / "train.parquet", tables.CORPUS, "")
    served = pq.read_table(hub_folder[1] / "xsum" / "default" / "train" / "0000.parquet")
    documents = served["document"].to_pylist()
    assert [row["document"] for row in lower] == [text.lower() for text in documents[:5]]

    # Another commit than the pinned one is never taken from the cache.
    pinned = {**XSUM, "revision": "a" * 40}
    (message,) = attempt(run_stage, tmp_path, [pinned], HF_HUB_OFFLINE="1")
    assert f"at {commit}, not at {'a' * 40}: " in message


def attempt(run_stage, tmp_path: Path, settings: list[dict], **variables: str) -> list[str]:
    """What HubSource says to each of some settings, one after the other in one process."""
    (tmp_path / "attempts.py").write_text(ATTEMPTS)
    done = run_stage("attempts", json.dumps(settings), **variables)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_is_wrong_with_a_data_set_is_said_in_one_sentence(hub, run_stage, tmp_path):
    _, address = hub
    cases = [
        ({**XSUM, "revision": "nope"}, "(nope) cannot be fetched"),
        ({**XSUM, "revision": "f" * 40}, f"({'f' * 40}) cannot be fetched"),
        ({"id": "some/scripted"}, "data.hub.revision refs/convert/parquet"),
        ({"id": "some/gated"}, "'some/gated' is a gated dataset on the Hub"),
        ({**CNNDM, "config": None}, "Please pick one among the available configs: ['1.0.0'"),
        ({**CNNDM, "config": "2"}, "'2' not found. Available: ['1.0.0', '3.0.0']"),
        ({**CNNDM, "test_split": "dev"}, "Unknown split \"dev\". Should be one of ['train'"),
        (
            {**CNNDM, "summary_column": "summary"},
            "data.hub.summary_column: train has no column 'summary', only ['article', 'highl",
        ),
    ]
    messages = attempt(run_stage, tmp_path, [case for case, _ in cases], HF_ENDPOINT=address)
    for (case, expected), message in zip(cases, messages, strict=True):
        assert expected in message, case
        assert message.startswith(("data.hub", "the data set")), case
        assert "\n" not in message or "\n  - data.hub" in message, case
