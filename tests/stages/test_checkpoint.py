"""The checkpoint stage: hub ids and folders, through the real loading code."""

import json
import shutil
from pathlib import Path

import tiny_hub
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PegasusTokenizer

from brido.candidates.local import Generator
from brido.models import LanguageModel
from brido.models.checkpoint import store_checkpoint
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings
from brido.training.batches import Batches, RankedDocument
from brido.training.loss import ContrastiveLoss
from brido.training.settings import TrainingSettings
from brido.work.settings import RuntimeSettings

MODELS = {
    "base": "facebook/bart-large-cnn",
    "brio": "Yale-LILY/brio-cnndm-uncased",
    "pegasus": "google/pegasus-xsum",
    "brio_xsum": "Yale-LILY/brio-xsum-cased",
}
# Stores several checkpoints in one process and prints what each refusal says. Downloads write to
# the disk in chunks of 500 bytes, as they do in chunks of megabytes with real models.
ATTEMPTS = """
import json, sys
from pathlib import Path
from huggingface_hub import constants
constants.DOWNLOAD_CHUNK_SIZE = 500
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
    server.break_after = 1000  # the first long file breaks off once: the download goes on
    cases = [(name, None, str(tmp_path / system)) for system, name in MODELS.items()]
    assert attempt(run_stage, tmp_path, cases, HF_ENDPOINT=address) == ["stored"] * 4
    assert any("bytes=1000-" in line for line in server.requests)
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


def test_weights_in_folders_of_a_repository_are_passed_over(hub, hub_folder, run_stage, tmp_path):
    """A trainer pushes its checkpoints too, here in another format than the model itself."""
    server, address = hub
    served = Path(shutil.copytree(hub_folder[1] / MODELS["brio"], tmp_path / "served"))
    assert not list(served.glob("*.safetensors"))
    shutil.copytree(hub_folder[1] / MODELS["base"], served / "checkpoint-500")
    server.add("models", "some/trained", served)
    case = ("some/trained", None, str(tmp_path / "base"))
    assert attempt(run_stage, tmp_path, [case], HF_ENDPOINT=address) == ["stored"]
    assert not [line for line in server.requests if "checkpoint-500/" in line]
    # The cache answers if the hub cannot be reached, without HF_HUB_OFFLINE too.
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    again = ("some/trained", None, str(tmp_path / "again"))
    assert attempt(run_stage, tmp_path, [again], **nowhere) == ["stored"]


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


def test_t5_goes_from_a_folder_to_candidates_and_a_loss(tmp_path: Path):
    torch.manual_seed(0)
    stored = tmp_path / "stored"
    store_checkpoint(str(tiny_hub.t5(tmp_path / "model")), None, stored, "checkpoints.base")
    original = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "model").state_dict()
    copy = AutoModelForSeq2SeqLM.from_pretrained(stored)
    assert all(torch.equal(value, original[name]) for name, value in copy.state_dict().items())

    runtime = RuntimeSettings(batch_tokens=400)
    generator = Generator(stored, ReadingSettings(max_source_tokens=60), runtime)
    assert generator.language.model.get_output_embeddings().weight.stride(0) == 1  # by columns
    search = SearchSettings(num_beams=4, num_beam_groups=4, diversity_penalty=1.0, max_length=12)
    (document, reference), *_ = tiny_hub.texts()
    candidates = generator.generate({"a": document}, search).written[0].texts
    assert len(candidates) == 4
    assert any(candidates)
    special = generator.language.tokenizer.all_special_tokens
    assert not [text for text in candidates if any(token in text for token in special)]

    language = LanguageModel.load(stored, ReadingSettings(max_source_tokens=60))
    language.model.train()
    ranked = RankedDocument("a", document, reference, candidates, [4.0, 3.0, 2.0, 1.0])
    batch = Batches(language, 20).batch([ranked])
    loss = ContrastiveLoss(language.model, TrainingSettings())(batch, 20, 1).loss
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(weight.grad).all() for weight in language.model.parameters())
