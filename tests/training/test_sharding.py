"""A model in parts, one in each of two processes, trains as a whole one does."""

import csv
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import transformers
from test_decoders import CONFIGS, LONG, LORA, task_of
from torch.distributed.fsdp import FSDPModule
from training_helpers import Killed, kill_at
from two_processes import on_two_processes

from brido.models.lora import Adapter
from brido.training import checkpoints, loop, parallel
from brido.training.contrastive import ContrastiveTask
from brido.training.loop import train
from brido.training.update import Updater
from brido.utils.errors import BridoError

MEASURES = ("loss", "cross_entropy", "contrastive", "gradient_norm", "tau", "rouge")


def make(folder: Path, family: str = "llama", fsdp: bool = True, **changes: object):
    """A run of 5 updates on 10 documents, one document a chunk."""
    runtime = {"batch_tokens": 1, "fsdp": fsdp} | changes.pop("runtime", {})
    return task_of(family, folder, runtime, **changes)


def tied() -> transformers.LlamaConfig:
    return transformers.LlamaConfig(**LONG | {"tie_word_embeddings": True})


def history(task: ContrastiveTask) -> list[dict[str, str]]:
    with task.history_file.open() as stream:
        return list(csv.DictReader(stream))


def assert_same_run(
    one: ContrastiveTask, two: ContrastiveTask, weights: dict[str, torch.Tensor]
) -> None:
    """Two runs, up to rounding; the second one's weights are given."""
    for row, other in zip(history(one), history(two), strict=True):
        for name in MEASURES:
            expected = pytest.approx(float(row[name] or "nan"), rel=1e-4, abs=1e-5, nan_ok=True)
            assert float(other[name] or "nan") == expected, name
    own = one.model.state_dict()
    assert own.keys() == weights.keys()
    for name, value in own.items():
        torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-4, msg=name)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"anchor": "base", "keep": "best_ranker"}),
        # Five documents of ten are not to be divided by two, and three of an update's by two.
        ("qwen3", {"batch_size": 3, "runtime": {"gradient_checkpointing": True}}),
        ("gemma3", {"keep": "best_generator", "cross_entropy": "elected"}),
        ("gpt2", {"max_gradient_norm": None}),
    ],
)
def test_it_is_the_run_of_one_process(family: str, changes: dict, tmp_path: Path) -> None:
    one = make(tmp_path / "one", family, fsdp=False, **changes)
    train(one)
    two = make(tmp_path / "two", family, **changes)
    assert_same_run(one, two, on_two_processes(two))


def test_an_adapter_trains_in_parts(tmp_path: Path) -> None:
    tasks = [make(tmp_path / name, fsdp=name == "two") for name in ("one", "two")]
    for task in tasks:
        Adapter(task.model, LORA, 0, "training.lora")
    train(tasks[0])
    assert_same_run(*tasks, on_two_processes(tasks[1]))


@pytest.mark.parametrize("first", [True, False], ids=["sharded first", "whole first"])
def test_a_killed_run_goes_on_sharded_or_not(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(tmp_path / "one", fsdp=False, anchor="base")
    train(one)
    often = {"checkpoint_minutes": 1e-9}
    kill_at(monkeypatch, 4, BridoError)
    killed = make(tmp_path / "two", anchor="base", runtime=often)
    with pytest.raises(Exception, match="stopped"):
        on_two_processes(killed) if first else train(killed)
    monkeypatch.undo()
    content = torch.load(killed.folder / "state.pt", weights_only=True)
    assert content["run"]["update"] == 3
    assert content["model"].keys() == one.model.state_dict().keys()
    again = make(tmp_path / "two", anchor="base", runtime=often)
    if first:
        train(again)
        weights = again.model.state_dict()
    else:
        weights = on_two_processes(again)
    assert_same_run(one, again, weights)


def test_a_process_holds_half_of_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each of two processes' weights and optimizer states, whatever is divided."""
    validate = loop._validate
    task = make(tmp_path)
    total = sum(weight.numel() for weight in task.model.parameters())

    def counting(updater: Updater, *rest: object) -> None:
        validate(updater, *rest)
        parts = [weight.to_local() for weight in updater.step.parameters()]
        place = updater.parallel.index
        torch.save(sum(part.numel() for part in parts), tmp_path / f"{place}.pt")
        # A layer at a time is gathered, and what stands around the layers.
        units = [module for module in updater.step.modules() if isinstance(module, FSDPModule)]
        assert len(units) == 1 + updater.task.model.config.num_hidden_layers

    monkeypatch.setattr(loop, "_validate", counting)
    on_two_processes(task)
    held = [torch.load(tmp_path / f"{place}.pt") for place in range(2)]
    assert sum(held) == total
    assert max(held) < 0.55 * total


def test_what_comes_back_is_an_ordinary_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved and loaded as any other; tied weights are tied, and written once."""
    monkeypatch.setitem(CONFIGS, "tied", tied)
    task = make(tmp_path, "tied", keep="best_ranker", runtime={"checkpoint_minutes": 1e-9})
    weights = on_two_processes(task, save=tmp_path / "tuned")
    size = sum(weight.numel() for weight in task.model.parameters())
    assert (task.folder / "finished.pt").stat().st_size < 4 * size + 40_000
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "tuned")
    assert type(loaded).__name__ == "LlamaForCausalLM"
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, weights[name]), name


def test_the_first_process_alone_says_when_to_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saving is a meeting, and each process has a clock of its own: here one would save always."""
    monkeypatch.setattr(checkpoints.SaveTimer, "due", property(lambda _: is_second()))
    one = make(tmp_path / "one", fsdp=False)
    train(one)
    two = make(tmp_path / "two")
    assert_same_run(one, two, on_two_processes(two))


def is_second() -> bool:
    return dist.is_initialized() and dist.get_rank() == 1


def test_a_smaller_number_of_candidates_at_once_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state may come from a process that was short of memory."""
    with monkeypatch.context() as patch:
        kill_at(patch, 4)
        often = {"checkpoint_minutes": 1e-9, "candidate_micro_batch": 2}
        with pytest.raises(Killed):
            train(make(tmp_path, fsdp=False, runtime=often))
    run = Updater.run

    def checked(self: Updater, update: int) -> object:
        assert self.micro_batch is None
        return run(self, update)

    monkeypatch.setattr(Updater, "run", checked)
    on_two_processes(make(tmp_path))


def test_bfloat16_is_near(tmp_path: Path) -> None:
    runtime = {"precision": "bfloat16"}
    one = make(tmp_path / "one", fsdp=False, runtime=runtime)
    train(one)
    two = make(tmp_path / "two", runtime=runtime)
    on_two_processes(two)
    for row, other in zip(history(one), history(two), strict=True):
        for name in ("cross_entropy", "contrastive"):
            expected = pytest.approx(float(row[name]), rel=0.05, abs=0.02)
            assert float(other[name]) == expected, name


def test_what_cannot_be_sharded_is_refused(tmp_path: Path, make_task) -> None:
    found = make_task("bart", runtime={"fsdp": True})
    with pytest.raises(BridoError, match="a bart model runs candidates in groups"):
        parallel.check_shardable(found.model, found.runtime)
    task = make(tmp_path, runtime={"candidate_micro_batch": 2})
    with pytest.raises(BridoError, match="runtime.candidate_micro_batch: with runtime.fsdp all"):
        parallel.check_shardable(task.model, task.runtime)
    for family in CONFIGS:
        parallel.check_shardable(make(tmp_path, family).model, make(tmp_path).runtime)


def test_one_process_takes_no_notice(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one", fsdp=False), make(tmp_path / "two")
    train(one)
    train(two)
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, two.model.state_dict()[name])
