"""Kendall's tau, top-1, the learning rates, and what a run keeps of its updates."""

import math
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from tiny_models import tiny_bart

from brido.likelihood.likelihood import candidate_log_likelihood
from brido.training.batches import learning_rate
from brido.training.contrastive import ContrastiveTask, warmup_updates
from brido.training.run import TrainState, UpdateReport
from brido.training.train import train
from brido.training.validation import (
    kendall_tau,
    log_p_measures,
    rank_measures,
    validate_ranker,
)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_tau_is_scipys(pairs):
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    expected = kendalltau(first, second).statistic
    actual = kendall_tau(first, second)
    assert actual == pytest.approx(expected, nan_ok=True)


def test_rank_measures_of_three_documents():
    likelihood = np.array([[-1.0, -2.0, -3.0], [-3.0, -1.0, -2.0], [-1.0, -2.0, -3.0]])
    scores = np.array([[0.9, 0.5, 0.1], [0.9, 0.5, 0.1], [0.4, 0.4, 0.4]])
    # Taus: 1; -1/3 (one pair of three agrees); undefined. Top-1: right; wrong; all are best.
    assert rank_measures(likelihood, scores) == {
        "tau": pytest.approx(1 / 3),
        "top1": pytest.approx(2 / 3),
    }
    assert math.isnan(rank_measures(likelihood[2:], scores[2:])["tau"])
    # Documents may have different numbers of candidates.
    fewer = rank_measures([likelihood[0], likelihood[1][:2]], [scores[0], scores[1][:2]])
    assert fewer == {"tau": 0.0, "top1": 0.5}


def test_the_ranker_is_validated_without_dropout(make_task):
    task: ContrastiveTask = make_task(model_changes={"dropout": 0.5}, length_penalty=0.6)
    model = tiny_bart().eval()
    results = [
        validate_ranker(model, task.batches, task.validation, 0.6, *sizes)
        for sizes in ((1, None), (4, 1), (9, 3))
    ]
    assert results[1] == pytest.approx(results[0], rel=1e-5)
    assert results[2] == pytest.approx(results[0], rel=1e-5)
    modes: list[bool] = []
    task.model.get_decoder().register_forward_pre_hook(lambda part, _: modes.append(part.training))
    first = train(task).history[0]
    assert {name: first[name] for name in results[0]} == pytest.approx(results[0], rel=1e-5)
    # Validation, updates, validation, updates, validation.
    assert [mode for mode, _ in groupby(modes)] == [False, True, False, True, False]
    batch = task.batches.batch(list(task.validation))
    scored, per_token = (
        candidate_log_likelihood(
            model,
            batch.sources.ids,
            batch.sources.mask,
            batch.targets.ids[:, 1:],
            penalty,
            batch.targets.lengths[:, 1:],
        )
        .detach()
        .double()
        .numpy()
        for penalty in (0.6, 1.0)
    )
    expected = rank_measures(scored, batch.scores.numpy())
    expected |= {"log_p_elected": per_token[:, 0].mean(), "log_p_rest": per_token[:, 1:].mean()}
    assert results[0] == pytest.approx(expected, rel=1e-5)


def test_texts_that_fill_up_a_batch_count_in_no_measure(make_task, validation):
    task: ContrastiveTask = make_task()
    model, (first, second) = tiny_bart().eval(), (validation[0], validation[1])
    short = replace(first, candidates=first.candidates[:2], scores=[0.9, 0.1])
    alone = [validate_ranker(model, task.batches, [one], 0.6, 1) for one in (short, second)]
    both = validate_ranker(model, task.batches, [short, second], 0.6, 2)
    means = {name: np.mean([one[name] for one in alone]) for name in both}
    assert both == pytest.approx(means, rel=1e-5)


def test_log_p_of_the_best_and_of_the_others_by_hand():
    rows = [np.array([-1.0, -2.0, -4.0]), np.array([-2.0, -1.0])]
    # -1 and -2; -3 and -1: documents weigh alike, however many candidates they have.
    assert log_p_measures(rows) == {"log_p_elected": -1.5, "log_p_rest": -2.0}
    assert all(math.isnan(value) for value in log_p_measures([]).values())


def test_noam_is_brios():
    rates = [learning_rate(u, 10**6, 2e-3, 10_000, "noam") for u in (1, 5_000, 10_000, 40_000)]
    assert rates == pytest.approx([2e-9, 1e-5, 2e-5, 1e-5])
    assert learning_rate(4, 10, 1.0, 0, "noam") == 0.5


def test_linear_goes_up_and_down():
    rates = [learning_rate(u, 6, 1.0, 2, "linear") for u in range(1, 7)]
    assert rates == pytest.approx([0.5, 1.0, 1.0, 0.75, 0.5, 0.25])
    assert [learning_rate(u, 2, 1.0, 0, "linear") for u in (1, 2)] == [1.0, 0.5]


def test_a_warm_up_below_one_is_a_share_of_the_updates():
    counts = [warmup_updates(warmup, 30) for warmup in (0, 0.0, 0.1, 0.39, 0.5, 1, 7, 10_000)]
    assert counts == [0, 0, 3, 12, 15, 1, 7, 10_000]
    assert all(type(count) is int for count in counts)


def report(loss):
    return UpdateReport(*[loss] * len(UpdateReport.__annotations__))


def trained(updates):
    """A state after as many updates, the number of an update its loss."""
    state = TrainState()
    state.add_row({}, updates, "tau")
    for update in range(updates):
        state.count(report(update + 1.0), updates)
    return state


def test_the_last_losses_are_those_of_the_last_tenth_and_at_least_one():
    assert trained(30).last_losses == [28, 29, 30]
    assert trained(9).last_losses == [9]


def test_a_row_has_the_means_of_its_interval():
    state = trained(3)
    state.add_row({}, 3, "tau")
    assert state.history[-1]["loss"] == 2
    state.count(report(7.0), 4)
    state.add_row({}, 3, "tau")
    assert state.history[-1]["loss"] == 7


def test_of_equal_validations_the_first_stays_the_best():
    state = TrainState()
    values = [math.nan, 0.5, 0.5, math.nan, 0.4, 0.6]
    better = []
    for state.update, value in enumerate(values):
        better.append(state.add_row({"tau": value}, 1, "tau"))
    assert better == [False, True, False, False, False, True]
    assert state.best == (0.6, 5)
