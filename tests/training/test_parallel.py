"""Two processes, with the whole model in each or a part of it, train as one process does."""

import csv

import pytest
import torch
import transformers
from training_runs import CONFIGS, LONG, LORA, kill_at, on_two_processes, task_of

from brido.models.lora import Adapter
from brido.training.train import train
from brido.utils.errors import BridoError

MEASURES = ("loss", "cross_entropy", "contrastive", "gradient_norm", "tau", "rouge")
OFTEN = {"checkpoint_minutes": 1e-9}


def make(folder, family="llama", fsdp=True, **changes):
    """A run of 5 updates on 10 documents, one document a chunk."""
    runtime = {"batch_tokens": 1, "fsdp": fsdp} | changes.pop("runtime", {})
    return task_of(family, folder, runtime, **changes)


def history(task):
    with task.history_file.open() as stream:
        return list(csv.DictReader(stream))


def assert_same_run(one, two, weights, rel=0.0001):
    """Two runs, up to rounding; the second one's weights are given."""
    for row, other in zip(history(one), history(two), strict=True):
        for name in MEASURES:
            expected = pytest.approx(
                float(row.get(name) or "nan"), rel=rel, abs=rel / 10, nan_ok=True
            )
            assert float(other.get(name) or "nan") == expected, name
    own = one.model.state_dict()
    assert own.keys() == weights.keys()
    for name, value in own.items():
        # The gradient of a key's bias is zero but for rounding, which Adam blows up.
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-4, msg=name)


@pytest.mark.parametrize(
    ("model_changes", "runtime"),
    [
        # One document a chunk: 4 chunks an update, and an odd 2 in the last one.
        ({}, {"batch_tokens": 1}),
        # 3 documents a chunk: one process has the smaller chunk, or none at all.
        ({}, {"batch_tokens": 340}),
        ({"dropout": 0.2}, {"gradient_checkpointing": True}),
    ],
)
def test_whole_models(make_task, model_changes, runtime):
    one = make_task("one", model_changes, runtime)
    train(one)
    two = make_task("two", model_changes, runtime)
    assert_same_run(one, two, on_two_processes(two), rel=1e-5)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"keep": "best_ranker"}),
        # Five documents of ten are not to be divided by two, and three of an update's by two.
        ("qwen3", {"batch_size": 3, "runtime": {"gradient_checkpointing": True}}),
        ("gemma3", {"keep": "best_generator", "cross_entropy": "elected"}),
        ("gpt2", {"max_gradient_norm": None, "gold_weight": 0.5}),
    ],
)
def test_parts_of_a_model(family, changes, tmp_path):
    one = make(tmp_path / "one", family, fsdp=False, **changes)
    train(one)
    two = make(tmp_path / "two", family, **changes)
    assert_same_run(one, two, on_two_processes(two))


@pytest.mark.parametrize("fsdp", [True, False], ids=["parts", "whole"])
def test_an_adapter(fsdp, tmp_path):
    tasks = [make(tmp_path / name, fsdp=fsdp) for name in ("one", "two")]
    for task in tasks:
        Adapter(task.model, LORA, 0)
    train(tasks[0])
    assert_same_run(*tasks, on_two_processes(tasks[1]))


@pytest.mark.parametrize(
    ("fsdp", "first"),
    [(True, True), (True, False), (False, False)],
    ids=["parts on two, then one", "one, then parts on two", "one, then two"],
)
def test_a_killed_run_goes_on_with_another_number_of_processes(fsdp, first, tmp_path, monkeypatch):
    one = make(tmp_path / "one", fsdp=False)
    train(one)
    killed = make(tmp_path / "two", fsdp=fsdp, runtime=OFTEN)
    with monkeypatch.context() as patch, pytest.raises(Exception, match="stopped"):
        kill_at(patch, 4, BridoError)
        on_two_processes(killed) if first else train(killed)
    content = torch.load(killed.folder / "state.pt", weights_only=True)
    assert content["run"]["update"] == 3
    assert content["model"].keys() == one.model.state_dict().keys()
    again = make(tmp_path / "two", fsdp=fsdp, runtime=OFTEN)
    if first:
        train(again)
        weights = again.model.state_dict()
    else:
        weights = on_two_processes(again)
    assert_same_run(one, again, weights)


def test_what_comes_back_is_an_ordinary_model(tmp_path, monkeypatch):
    """Saved and loaded as any other; tied weights are tied, and written once."""
    tied = transformers.LlamaConfig(**LONG | {"tie_word_embeddings": True})
    monkeypatch.setitem(CONFIGS, "tied", lambda: tied)
    task = make(tmp_path, "tied", keep="best_ranker", runtime=OFTEN)
    weights = on_two_processes(task, save=tmp_path / "tuned")
    size = sum(weight.numel() for weight in task.model.parameters())
    # The weights, and the optimizer's two means of each.
    assert (task.folder / "state.pt").stat().st_size < 3 * 4 * size + 80_000
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "tuned")
    assert type(loaded).__name__ == "LlamaForCausalLM"
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, weights[name]), name
