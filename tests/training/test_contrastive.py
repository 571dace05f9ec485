"""Every way to train, on one loop: adapters, elected targets, unlabelled documents, each loss."""

import math

import pyarrow as pa
import pytest
import torch
from training_runs import Killed, kill_at, table

from brido.likelihood.likelihood import normalized, sequence_statistics
from brido.models.lora import Adapter
from brido.models.settings import LoraSettings
from brido.training.batches import RankedDocuments
from brido.training.loss import contrastive_loss, smoothed_cross_entropy
from brido.training.run import Run
from brido.training.train import train

LORA = LoraSettings(rank=2, alpha=4.0, dropout=0.1)


def with_adapter(make_task, *arguments, **changes):
    task = make_task(*arguments, **changes)
    Adapter(task.model, LORA, seed=0)
    return task


def test_an_adapter_is_all_that_a_state_holds_and_resumes_to_the_same_bits(make_task, monkeypatch):
    whole = with_adapter(make_task, "whole")
    start = {name: value.clone() for name, value in whole.model.state_dict().items()}
    train(whole)
    kill_at(monkeypatch, 6)
    often = {"checkpoint_minutes": 1e-9}
    with pytest.raises(Killed):
        train(with_adapter(make_task, "killed", runtime=often))
    monkeypatch.undo()
    again = with_adapter(make_task, "killed", runtime=often)
    content = torch.load(again.folder / "state.pt", weights_only=True)
    assert content["run"]["update"] == 5
    assert all("lora_" in name for name in content["model"])
    train(again)
    trained = again.model.state_dict()
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, trained[name]), name
        assert torch.equal(value, start[name]) != ("lora_" in name), name
    # And from the state of the finished run, if the stage was killed before it saved the model.
    third = with_adapter(make_task, "killed")
    monkeypatch.setattr(Run, "update", None)
    train(third)
    for name, value in third.model.state_dict().items():
        assert torch.equal(value, trained[name]), name


# Every key that the loss reads differs from its default.
LOSSES = {
    "difference": {"margin": 0.5, "likelihood_scale": 0.7, "length_penalty": 1.5},
    "fixed": {"margin": 0.5, "margin_kind": "fixed", "reduction": "sum"},
    "gold": {"gold_weight": 0.3, "gold_margin": 0.2, "likelihood_scale": 0.7},
}


@pytest.mark.parametrize("micro_batch", [None, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_a_step_computes_the_loss_of_the_settings(make_task, name, micro_batch):
    whole = table(18)
    values = whole["scores"].to_pylist()
    values[0][1] = math.nan  # a document with a candidate less
    scores = pa.array(values, pa.list_(pa.float64()))
    documents = RankedDocuments(whole.set_column(4, "scores", scores))
    task = make_task(epochs=1, gamma=3.0, documents=documents, **LOSSES[name])
    train(task)
    task.model.eval()
    batch = task.batch(list(documents)[:3])
    assert not batch.eligible.all()
    with torch.no_grad():
        sums = sequence_statistics(
            task.model, batch.sources.ids, batch.sources.mask, batch.targets.ids,
            batch.targets.lengths,
        )  # fmt: skip
    settings = task.settings
    f = normalized(sums, settings.length_penalty) * settings.likelihood_scale
    term = contrastive_loss(
        f[:, 1:], batch.scores, settings.margin, settings.margin_kind, settings.reduction,
        f[:, 0], settings.gold_margin, settings.gold_weight, batch.eligible,
    )  # fmt: skip
    assert term > 0.001
    # Three of the four documents of an update.
    parts = task.loss()(batch, 40, 4, micro_batch)
    assert parts.contrastive.item() == pytest.approx(0.75 * term.item(), rel=1e-4)
    reference = sums.log_probability[:, 0], sums.mean_log_probability[:, 0]
    cross_entropy = smoothed_cross_entropy(*reference, 40, settings.label_smoothing).item()
    assert parts.cross_entropy.item() == pytest.approx(cross_entropy, rel=1e-5)
    total = cross_entropy + 3 * parts.contrastive.item()
    assert parts.loss.item() == pytest.approx(total, rel=1e-5)
