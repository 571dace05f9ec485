"""Training runs of a tiny model: what they learn, and that nothing disturbs where they end."""

import csv
import math
import os
import signal

import pytest
import torch
from accelerate import Accelerator
from training_runs import Killed, kill_at

from brido.training import checkpoints
from brido.training.contrastive import ContrastiveTask
from brido.training.run import Run
from brido.training.train import train
from brido.utils.errors import BridoError
from brido.utils.signals import Stopped

EVERY_UPDATE = {"checkpoint_minutes": 1e-9}
# Random enough that a wrong random state would show.
DROPOUT = {"dropout": 0.2}


def weights(task):
    return {name: value.clone() for name, value in task.model.state_dict().items()}


def assert_same_bits(left, right):
    assert left.keys() == right.keys()
    for name, value in left.items():
        assert torch.equal(value, right[name]), name


def rows(task):
    with task.history_file.open() as stream:
        return list(csv.DictReader(stream))


def curve(task, *names):
    return [float(row[name]) for row in rows(task) for name in names]


@pytest.fixture
def undisturbed(make_task):
    """undisturbed(model_changes, **settings): the finished run that others are held against."""

    def run(model_changes=None, **settings):
        key = repr((model_changes, settings))
        if key not in _finished:
            task = make_task("undisturbed", model_changes, **settings)
            train(task)
            _finished[key] = task
        return _finished[key]

    return run


_finished: dict[str, ContrastiveTask] = {}


def test_learns_the_order_and_writes_its_history(make_task):
    task = make_task(epochs=12, gamma=20.0, learning_rate=0.02)
    state = train(task)
    table = rows(task)
    updates = [int(row["update"]) for row in table]
    assert updates == [*range(0, 61, 5)]
    assert state.update == 60
    assert float(table[-1]["contrastive"]) < 0.4 * float(table[0]["contrastive"])
    assert float(table[-1]["cross_entropy"]) < float(table[0]["cross_entropy"])
    for row in table:
        loss = float(row["cross_entropy"]) + 20.0 * float(row["contrastive"])
        assert float(row["loss"]) == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("update", [1, 6, 10])
def test_a_killed_run_ends_in_the_same_bits(make_task, undisturbed, monkeypatch, update):
    expected = undisturbed(DROPOUT)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_at(patch, update)
        train(make_task("killed", DROPOUT, EVERY_UPDATE))
    again = make_task("killed", DROPOUT, EVERY_UPDATE)
    train(again)
    assert_same_bits(weights(again), weights(expected))
    names = ("update", "loss", "tau", "learning_rate", "gradient_norm")
    assert curve(again, *names) == curve(expected, *names)


@pytest.mark.parametrize("writes", [1, 9])
def test_killed_while_writing_it_goes_on_from_the_last_whole_file(
    make_task, undisturbed, monkeypatch, writes
):
    expected = undisturbed(DROPOUT, keep="best_ranker")
    whole, count = torch.save, iter(range(writes))

    def torn(content, file):
        if next(count, None) is None:
            file.write(b"half a file")
            raise Killed
        whole(content, file)

    monkeypatch.setattr(checkpoints.torch, "save", torn)
    with pytest.raises(Killed):
        train(make_task("killed", DROPOUT, EVERY_UPDATE, keep="best_ranker"))
    monkeypatch.undo()
    again = make_task("killed", DROPOUT, EVERY_UPDATE, keep="best_ranker")
    train(again)
    assert_same_bits(weights(again), weights(expected))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_a_checkpoint_and_ends(
    make_task, undisturbed, monkeypatch, request, number
):
    expected = undisturbed(DROPOUT)
    # A shell lets what it starts in the background ignore Ctrl-C, and what is ignored stays so.
    given = signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler
    inherited = signal.signal(number, given)
    request.addfinalizer(lambda: signal.signal(number, inherited))
    before = signal.getsignal(number)
    run = Run.update

    def interrupted(self):
        if self.state.update == 6:
            os.kill(os.getpid(), number)
        return run(self)

    monkeypatch.setattr(Run, "update", interrupted)
    with pytest.raises(Stopped) as caught:
        train(make_task("stopped", DROPOUT))
    monkeypatch.undo()
    assert caught.value.number == number
    assert signal.getsignal(number) == before
    again = make_task("stopped", DROPOUT)
    content = torch.load(again.folder / "state.pt", weights_only=True)
    assert content["run"]["update"] == 7
    train(again)
    assert_same_bits(weights(again), weights(expected))


def test_a_gradient_that_is_no_number_changes_no_weight(make_task, monkeypatch):
    monkeypatch.setattr(Accelerator, "clip_grad_norm_", lambda *_: torch.tensor(math.nan))
    task = make_task()
    with pytest.raises(BridoError, match="the gradient of update 1 is nan"):
        train(task)
    assert_same_bits(weights(task), make_task("fresh").model.state_dict())


@pytest.mark.parametrize(
    ("runtime", "model_changes"),
    [
        ({"batch_tokens": 1}, {}),
        ({"batch_tokens": 300}, {}),
        ({"gradient_checkpointing": True, "candidate_micro_batch": 3}, {}),
        ({"gradient_checkpointing": True, "batch_tokens": 1}, DROPOUT),
    ],
)
def test_runtime_settings_do_not_change_the_result(make_task, undisturbed, runtime, model_changes):
    usual = undisturbed(model_changes)
    other = make_task("other", model_changes, runtime)
    train(other)
    assert curve(other, "loss") == pytest.approx(curve(usual, "loss"), rel=2e-5)
    assert curve(other, "tau") == pytest.approx(curve(usual, "tau"), abs=1e-6)


def test_short_memory_halves_the_candidates_and_is_recorded(make_task, undisturbed, monkeypatch):
    usual = undisturbed({})
    gradients = Run.gradients

    def small(self, update, *arguments):
        sums = gradients(self, update, *arguments)
        if update > 3 and (self.state.micro_batch is None or self.state.micro_batch > 2):
            raise torch.OutOfMemoryError("no memory left")
        return sums

    monkeypatch.setattr(Run, "gradients", small)
    short = make_task("short")
    state = train(short)
    assert state.micro_batch == 2
    assert curve(short, "loss") == pytest.approx(curve(usual, "loss"), rel=2e-5)


@pytest.mark.parametrize(
    ("runtime", "calls", "found"), [({}, 0, 2), ({}, 30, 2), ({"candidate_micro_batch": 1}, 0, 1)]
)
def test_a_validation_needs_no_more_memory_than_an_update(
    make_task, undisturbed, runtime, calls, found
):
    """The decoder runs at most two texts together, from the first call on or a later one."""
    usual, short = undisturbed({}), make_task("short", runtime={"batch_tokens": 1, **runtime})
    left = iter(range(calls))

    def small(_, given):
        if next(left, None) is None and len(given[0]) > 2:
            raise torch.OutOfMemoryError("no memory left")

    short.model.get_decoder().layers[0].register_forward_pre_hook(small)
    state = train(short)
    assert state.micro_batch == found
    names = ("loss", "tau", "top1", "log_p_elected")
    assert curve(short, *names) == pytest.approx(curve(usual, *names), rel=2e-5)
