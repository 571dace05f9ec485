"""Five updates of the real SmolLM2, all its weights and an adapter; skipped where it is not."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import smollm2
import torch
from transformers import AutoModelForCausalLM

from brido.corpus.settings import WorldSettings
from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models.checkpoint import store_checkpoint
from brido.models.lora import Adapter
from brido.models.settings import LoraSettings, ReadingSettings
from brido.training.contrastive import ContrastiveTask
from brido.training.documents import RankedDocuments
from brido.training.loop import train
from brido.training.settings import TrainingSettings, ValidationSettings
from brido.work.settings import RuntimeSettings
from brido.world import documents as world_documents

READING = ReadingSettings(max_source_tokens=200, prompt="Summarise in one sentence: {{ document }}")
pytestmark = smollm2.NEEDED


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2") / "base"
    store_checkpoint(smollm2.SOURCE, None, folder, "checkpoints.base")
    return folder


def ranked() -> RankedDocuments:
    """Five reports of the world without references; the third of four candidates did not end."""
    rows = list(world_documents(WorldSettings(), "train", 5))
    texts = [[row["summary"], row["document"][:60], row["document"][:90], "No."] for row in rows]
    scores = [[0.6, 0.4, np.nan, 0.1]] * len(rows)
    columns = {
        "id": [row["id"] for row in rows],
        "document": [row["document"] for row in rows],
        "reference": pa.nulls(len(rows), pa.string()),
        "candidates": texts,
        "eligible": [[True, True, False, True]] * 5,
        "scores": scores,
        "order": [[0, 1, 3, 2]] * 5,
    }
    return RankedDocuments(pa.table(columns))


@pytest.mark.parametrize("lora", [None, LoraSettings()], ids=["full", "lora"])
def test_five_updates(base: Path, lora: LoraSettings | None, tmp_path: Path) -> None:
    language = LanguageModel.load(base, READING)
    adapter = Adapter(language.model, lora, 0, "training.lora") if lora else None
    settings = TrainingSettings(
        epochs=1, batch_size=1, learning_rate=5e-5, anchor="base", label_smoothing=0.0,
        max_candidate_tokens=48, validation=ValidationSettings(every=5, documents=2),
    )  # fmt: skip
    found = ranked()
    task = ContrastiveTask(
        language, found, found.sample(2), settings, RuntimeSettings(device="cpu"),
        tmp_path / "work", tmp_path / "training.csv",
    )  # fmt: skip
    state = train(task)
    assert state.update == 5
    assert all(np.isfinite(row["loss"]) for row in state.history)
    kept = (tmp_path / "work/finished.pt").stat().st_size
    assert kept < 30e6 if lora else kept > 500e6
    if adapter:
        adapter.save(tmp_path / "tuned/adapter")
        adapter.merge()
    language.save(tmp_path / "tuned")
    assert elected(tmp_path / "tuned", task) > elected(base, task) + 0.02


@torch.no_grad()
def elected(folder: Path, task: ContrastiveTask) -> float:
    """log p of a token of the elected candidates, which is what the cross-entropy teaches."""
    batch = task.batches.batch(list(task.documents), candidates=False)
    model = AutoModelForCausalLM.from_pretrained(folder)
    found = candidate_log_likelihood(
        model, batch.sources.ids, batch.sources.mask, batch.targets.ids, 1.0, batch.targets.lengths
    )
    return float(found.mean())
