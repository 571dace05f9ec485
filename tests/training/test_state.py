"""What a run keeps of its updates and validations."""

import math

from brido.training.state import TrainState, UpdateReport


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


def test_of_equal_validations_the_first_stays_the_best():
    state = TrainState()
    values = [math.nan, 0.5, 0.5, math.nan, 0.4, 0.6]
    better = []
    for state.update, value in enumerate(values):
        better.append(state.add_row({"tau": value}, 1, "tau"))
    assert better == [False, True, False, False, False, True]
    assert state.best == (0.6, 5)
