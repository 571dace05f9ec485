"""Every way to train, on one loop: adapters, anchors, elected targets, unlabelled documents."""

import math
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from tiny_models import tiny_bart
from training_runs import Killed, kill_at, table

from brido.likelihood import candidate_log_likelihood
from brido.likelihood.likelihood import normalized, sequence_statistics
from brido.models.lora import Adapter
from brido.models.settings import LoraSettings
from brido.training import anchor
from brido.training.contrastive import ContrastiveTask
from brido.training.documents import RankedDocuments
from brido.training.loop import train
from brido.training.loss import contrastive_loss, listwise_loss, spread_loss
from brido.training.settings import TrainingSettings
from brido.training.update import Updater
from brido.utils.errors import BridoError

MakeTask = Callable[..., ContrastiveTask]
LORA = LoraSettings(rank=2, alpha=4.0, dropout=0.1)


def with_adapter(make_task: MakeTask, *arguments: object, **changes: object) -> ContrastiveTask:
    task = make_task(*arguments, **changes)
    Adapter(task.model, LORA, seed=0)
    return task


@pytest.mark.parametrize("anchored", [None, "base"])
def test_an_adapter_is_all_that_a_state_holds_and_resumes_to_the_same_bits(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch, anchored: str | None
) -> None:
    whole = with_adapter(make_task, "whole", anchor=anchored)
    start = {name: value.clone() for name, value in whole.model.state_dict().items()}
    train(whole)
    kill_at(monkeypatch, 6)
    often = {"checkpoint_minutes": 1e-9}
    with pytest.raises(Killed):
        train(with_adapter(make_task, "killed", runtime=often, anchor=anchored))
    monkeypatch.undo()
    again = with_adapter(make_task, "killed", runtime=often, anchor=anchored)
    content = torch.load(again.folder / "state.pt", weights_only=True)
    assert content["run"]["update"] == 5
    assert all("lora_" in name for name in content["model"])
    train(again)
    trained = again.model.state_dict()
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, trained[name]), name
        assert torch.equal(value, start[name]) != ("lora_" in name), name
    # And from the state of the finished run, if the stage was killed before it saved the model.
    third = with_adapter(make_task, "killed", anchor=anchored)
    monkeypatch.setattr(Updater, "run", None)
    train(third)
    for name, value in third.model.state_dict().items():
        assert torch.equal(value, trained[name]), name


def test_the_anchor_is_the_bases_likelihood_of_every_text(make_task: MakeTask) -> None:
    task = make_task(anchor="base", gamma=3.0, margin=0.5, epochs=1, runtime={"batch_tokens": 300})
    base = tiny_bart().eval()
    train(task)
    assert set(task._anchors) == {document.id for document in task.documents}
    for document in task.documents:
        batch = task.batches.batch([document])
        expected = candidate_log_likelihood(
            base, batch.sources.ids, batch.sources.mask, batch.targets.ids, 1.0,
            batch.targets.lengths,
        )[0]  # fmt: skip
        torch.testing.assert_close(
            torch.tensor(task._anchors[document.id]), expected.detach(), rtol=1e-5, atol=1e-6
        )


def test_the_anchored_loss_starts_at_the_margins(make_task: MakeTask) -> None:
    """f - f_base is 0 for the base, so of the first loss the margins alone are left."""
    task = make_task(anchor="base", margin=0.5, reduction="sum", epochs=1)
    expected = 0.0
    for index in task.plan.indices(1):
        scores = task.documents[index].scores
        gaps = [a - b for place, a in enumerate(scores) for b in scores[place + 1 :]]
        expected += 0.5 * sum(gaps) / len(task.plan.indices(1))
    state = train(task)
    assert state.history[0]["contrastive"] == pytest.approx(expected, rel=1e-4)


def test_a_killed_anchor_goes_on(make_task: MakeTask, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    save = anchor.save_tensors

    def dying(found: dict, file: Path) -> None:
        save(found, file)
        counts.append(len(found))
        if len(counts) == 2:
            raise Killed

    monkeypatch.setattr(anchor, "save_tensors", dying)
    runtime = {"batch_tokens": 1, "checkpoint_minutes": 1e-9}
    with pytest.raises(Killed):
        train(make_task("killed", runtime=runtime, anchor="base", epochs=1))
    again = make_task("killed", runtime=runtime, anchor="base", epochs=1)
    train(again)
    assert counts[:3] == [1, 2, 3]
    assert counts[-1] == len(again.documents)
    whole = make_task("whole", runtime=runtime, anchor="base", epochs=1)
    train(whole)
    assert whole._anchors == again._anchors


def unlabelled(task: ContrastiveTask) -> None:
    """Take every reference away."""
    whole = table(18)
    nothing = pa.nulls(len(whole), pa.string())
    task.documents = RankedDocuments(whole.set_column(2, "reference", nothing))


def test_without_references_the_elected_is_taught(make_task: MakeTask) -> None:
    bare, elected = make_task("bare"), make_task("elected", cross_entropy="elected")
    unlabelled(bare)
    assert train(bare).history == train(elected).history
    refused = make_task("gold", gold_weight=1.0)
    unlabelled(refused)
    with pytest.raises(BridoError, match="18 documents have no reference"):
        train(refused)


# Every key that a loss reads differs from its default.
LOSSES = {
    "ranking": {"margin": 0.5, "likelihood_scale": 0.7, "length_penalty": 1.5},
    "fixed": {"margin": 0.5, "margin_kind": "fixed", "reduction": "sum"},
    "gold": {"anchor": "base", "margin": 0.5, "gold_weight": 0.3, "gold_margin": 0.2}
    | {"likelihood_scale": 0.7},
    "spread": {"loss": "spread", "likelihood_scale": 0.7, "length_penalty": 1.5},
    "listwise": {"loss": "listwise", "temperature": 0.6, "log_ratio_scale": 0.8}
    | {"likelihood_scale": 0.7},
}


def expected_term(name: str, sums: object, base: object, batch: object, settings: TrainingSettings):
    """The checked loss of the public functions, of one document's sums."""
    scores, eligible = batch.scores, batch.eligible
    if name == "listwise":
        own, start = (of.log_probability[:, 1:] for of in (sums, base))
        return listwise_loss(own, scores, start, 0.6, 0.8, eligible)
    f = normalized(sums, settings.length_penalty)
    if settings.anchor:
        f = f - normalized(base, settings.length_penalty)
    f = f * settings.likelihood_scale
    if name == "spread":
        return spread_loss(f[:, 1:], eligible)
    return contrastive_loss(
        f[:, 1:], scores, settings.margin, settings.margin_kind, settings.reduction,
        f[:, 0], settings.gold_margin, settings.gold_weight, eligible,
    )  # fmt: skip


@pytest.mark.parametrize("micro_batch", [None, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_a_step_computes_the_loss_of_the_settings(
    make_task: MakeTask, name: str, micro_batch: int | None
) -> None:
    task = make_task(epochs=1, gamma=3.0, runtime={"batch_tokens": 300}, **LOSSES[name])
    whole = table(18)
    values = whole["scores"].to_pylist()
    values[0][1] = math.nan  # a document with a candidate less
    scores = pa.array(values, pa.list_(pa.float64()))
    task.documents = RankedDocuments(whole.set_column(4, "scores", scores))
    train(task)
    task.model.eval()
    documents = list(task.documents)[:3]
    batch = task.batch(documents)
    assert not batch.eligible.all()
    places = (batch.sources.ids, batch.sources.mask, batch.targets.ids, batch.targets.lengths)
    with torch.no_grad():
        sums, base = (
            sequence_statistics(model.eval(), *places) for model in (task.model, tiny_bart())
        )
    term = expected_term(name, sums, base, batch, task.settings)
    assert term > 0.001
    # Three of the four documents of an update.
    parts = task.step()(batch, 40, 4, micro_batch)
    assert parts.contrastive.item() == pytest.approx(0.75 * term.item(), rel=1e-4)
    total = parts.cross_entropy.item() + 3 * parts.contrastive.item()
    assert parts.loss.item() == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("loss", ["spread", "listwise"])
def test_other_losses_learn(make_task: MakeTask, loss: str) -> None:
    task = make_task(loss=loss, epochs=6, gamma=20.0)
    first, *_, last = train(task).history
    assert last["contrastive"] < 0.9 * first["contrastive"]
    if loss == "listwise":
        # g is 0 at base, so each of four candidates has a share of a quarter.
        assert first["contrastive"] == pytest.approx(math.log(4), rel=1e-4)
    else:
        assert task._anchors is None


def test_terms_that_a_loss_does_not_have_are_refused() -> None:
    for loss in ("spread", "listwise"):
        with pytest.raises(ValueError, match=f"gold_weight .*{loss}"):
            TrainingSettings(loss=loss, gold_weight=1.0)
    with pytest.raises(ValueError, match="anchor: .*spread"):
        TrainingSettings(loss="spread", anchor="base")
    # listwise compares with base anyway.
    assert TrainingSettings(loss="listwise", anchor="base").asks_base
    assert not TrainingSettings(loss="listwise", gamma=0.0).asks_base
