"""Fine-tuning in stage checkpoint: any model that is there learns from references first."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file
from small_project import document, write_checkpoint, write_corpus
from transformers import AutoModelForSeq2SeqLM

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.settings.load import check_params
from brido.tables import CORPUS, read_rows
from brido.training.batches import Batches, SummaryPairs
from brido.training.run import Run
from stages import checkpoint, paths

TUNING = {"epochs": 3, "batch_size": 4, "learning_rate": 0.02, "max_summary_tokens": 12}
LORA = {"rank": 4, "alpha": 8.0}
TRAIN = paths.corpus("train")
UPDATE = Run.update


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    write_checkpoint(tmp_path / "mine")
    write_corpus(tmp_path, "train", [document(number) for number in range(12)])
    return tmp_path


def make(**tuning: object) -> Path:
    """Run the stage for the folder `mine`; the checkpoint that it wrote."""
    base = {"source": "mine", "fine_tuning": TUNING | tuning}
    raw = {
        "data": {"source": "files", "files": {"train": "a.jsonl"}},
        "evaluation": {"metrics": ["rouge", "mentions"], "rouge": {}, "mentions": {}},
        "checkpoints": {"base": base},
        "reading": {"default": {"max_source_tokens": 20}},
        "runtime": {"device": "cpu", "checkpoint_minutes": 1e-9},
    }
    Path("params.yaml").write_text(yaml.safe_dump(raw))
    checkpoint.make(check_params(raw), "base")
    return paths.checkpoint("base")


def content(folder: Path) -> dict[str, bytes]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def loss(folder: Path) -> float:
    """The cross-entropy of the training split's references, in nats a token."""
    language = LanguageModel.load(folder, ReadingSettings(max_source_tokens=20))
    rows = read_rows(TRAIN, CORPUS, "")
    batch = Batches(language, 12).batch(
        list(SummaryPairs([(r["document"], r["summary"]) for r in rows]))
    )
    with torch.no_grad():
        logits = language.model(
            input_ids=batch.sources.ids, attention_mask=batch.sources.mask,
            decoder_input_ids=batch.targets.ids[:, 0, :-1],
        ).logits  # fmt: skip
    return float(torch.nn.functional.cross_entropy(logits.mT, batch.targets.ids[:, 0, 1:]))


@pytest.mark.parametrize("lora", [None, LORA])
def test_it_learns_its_references_and_is_an_ordinary_folder(project: Path, lora: dict) -> None:
    made = make(lora=lora)
    assert loss(made) < 0.7 * loss(project / "mine")
    record = json.loads((made / "source.json").read_text())
    assert record["source"] == "mine"
    assert record["fine_tuning"]["epochs"] == 3
    assert (record["fine_tuning"]["pairs"], record["fine_tuning"]["updates"]) == (12, 9)
    original = AutoModelForSeq2SeqLM.from_pretrained(project / "mine").state_dict()
    tuned = AutoModelForSeq2SeqLM.from_pretrained(made).state_dict()
    assert original.keys() == tuned.keys()
    assert (made / "adapter/adapter_config.json").is_file() == (lora is not None)
    if lora:
        weights = load_file(made / "adapter/adapter_model.safetensors")
        assert {value.shape[0] for name, value in weights.items() if "lora_A" in name} == {4}


def stopping(self: Run) -> str:
    if self.state.update == 4:
        raise KeyboardInterrupt
    return UPDATE(self)


def test_killed_it_goes_on_and_ends_in_the_same_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = content(make(lora=LORA))
    shutil.rmtree(".brido")
    shutil.rmtree("data/checkpoints")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Run, "update", stopping)
        make(lora=LORA)
    assert not paths.checkpoint("base").exists()
    monkeypatch.setattr(checkpoint, "store_checkpoint", None)  # it is loaded already
    assert content(make(lora=LORA)) == expected
    assert not list(Path(".brido/work/checkpoint/base").iterdir())
