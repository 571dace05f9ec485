"""The checkpoint stage: hub ids and folders, through the real loading code."""

import json
import shutil
from pathlib import Path

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PegasusTokenizer

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings

MODELS = {
    "base": "facebook/bart-large-cnn",
    "brio": "Yale-LILY/brio-cnndm-uncased",
    "pegasus": "google/pegasus-xsum",
    "brio_xsum": "Yale-LILY/brio-xsum-cased",
}
# Stores several checkpoints in one process and prints what each refusal says.
ATTEMPTS = """
import json, sys
from pathlib import Path
from brido.utils.errors import BridoError
from brido.models.checkpoint import save, store_checkpoint
from brido.models.completeness import incomplete
for source, revision, folder in json.loads(sys.argv[1]):
    try:
        store_checkpoint(source, revision, Path(folder), "checkpoints.base")
        message = "stored"
    except BridoError as error:
        message = str(error)
    print(json.dumps(message))
"""
TEXT = "Banners against pay cuts hung from the windows of Stanstead."


def attempt(run_stage, tmp_path: Path, cases: list[tuple], **variables: str) -> list[str]:
    """What store_checkpoint says to each of some sources, in one process."""
    (tmp_path / "attempts.py").write_text(ATTEMPTS)
    done = run_stage("attempts", json.dumps(cases), **variables)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_hub_models_are_stored_as_they_are_and_again_without_a_network(
    hub, hub_folder, run_stage, tmp_path
):
    server, address = hub
    cases = [(name, None, str(tmp_path / system)) for system, name in MODELS.items()]
    assert attempt(run_stage, tmp_path, cases, HF_ENDPOINT=address) == ["stored"] * 4
    for system, name in MODELS.items():
        served, stored = hub_folder[1] / name, tmp_path / system
        record = json.loads((stored / "source.json").read_text())
        commit = server.repositories["models", name].commit
        assert record == {"source": name, "revision": None, "commit": commit}
        assert (stored / "model.safetensors").is_file()
        assert not list(stored.glob("*.bin"))
        before = AutoModelForSeq2SeqLM.from_pretrained(served, dtype=torch.float32)
        after = AutoModelForSeq2SeqLM.from_pretrained(stored)
        assert after.dtype == torch.float32
        weights = after.state_dict()
        for key, tensor in before.state_dict().items():
            assert torch.equal(weights[key], tensor), key
        assert after.generation_config.to_dict() == before.generation_config.to_dict()
        assert after.generation_config.num_beams == (4 if "cnn" in name else 8)
        tokens = AutoTokenizer.from_pretrained(stored)(TEXT)["input_ids"]
        assert tokens == AutoTokenizer.from_pretrained(served)(TEXT)["input_ids"]
    assert isinstance(AutoTokenizer.from_pretrained(tmp_path / "pegasus"), PegasusTokenizer)

    server.requests.clear()
    again = [(MODELS["base"], None, str(tmp_path / "again"))]
    assert attempt(run_stage, tmp_path, again, HF_HUB_OFFLINE="1") == ["stored"]
    assert not server.requests
    first, second = tmp_path / "base", tmp_path / "again"
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes(), file.name


def test_a_chat_model_is_stored_with_its_output_layer_and_its_template(
    hub, hub_folder, run_stage, tmp_path
):
    """One whose weights are in two shards, and one whose template is in a file of its own."""
    server, address = hub
    served = Path(shutil.copytree(hub_folder[1] / "Qwen/Qwen3-1.7B", tmp_path / "served"))
    settings = json.loads((served / "tokenizer_config.json").read_text())
    template = settings.pop("chat_template")
    (served / "chat_template.jinja").write_text(template)
    (served / "tokenizer_config.json").write_text(json.dumps(settings))
    server.add("models", "some/chat", served)
    names = {"Qwen/Qwen3-1.7B": "shards", "some/chat": "file"}
    cases = [(name, None, str(tmp_path / folder)) for name, folder in names.items()]
    assert attempt(run_stage, tmp_path, cases, HF_ENDPOINT=address) == ["stored"] * 2
    language = LanguageModel.load(tmp_path / "shards", ReadingSettings(max_source_tokens=60))
    assert language.model.dtype == torch.float32
    assert language.model.generation_config.top_k == 20
    assert language.read([TEXT]).mask.sum() == 60
    assert AutoTokenizer.from_pretrained(tmp_path / "file").chat_template == template


def test_what_is_wrong_with_a_hub_model_is_said_in_one_sentence(hub, run_stage, tmp_path):
    _, address = hub
    cases = [
        ("some/nothing", None, "the model some/nothing cannot be fetched"),
        ("some/private", None, "log in with `hf auth login`"),
        ("some/gated", None, "some/gated cannot be fetched"),
        ("some/broken", None, f"cannot be fetched from {address} ("),
        (MODELS["base"], "v9", "(v9) cannot be fetched"),
        ("not a name", None, "'not a name' is not a hub id (owner/name)"),
        ("models/mine/best", None, "the folder models/mine/best does not exist"),
        ("./mine", None, "the folder ./mine does not exist"),
    ]
    sources = [(name, revision, str(tmp_path / "out")) for name, revision, _ in cases]
    messages = attempt(run_stage, tmp_path, sources, HF_ENDPOINT=address)
    for (name, _, expected), message in zip(cases, messages, strict=True):
        assert expected in message, name
        assert message.startswith("checkpoints.base"), name
        assert "\n" not in message, name
    assert not (tmp_path / "out").exists()
