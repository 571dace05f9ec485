"""Batches, and memory that runs out."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from brido.work.batches import MemoryBudget, plan_batches


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.integers(1, 8),
    st.integers(1, 2000),
)
def test_batches_hold_every_document_once_within_the_budget(lengths, rows, budget):
    batches = plan_batches(lengths, budget, rows)
    assert sorted(itertools.chain(*batches)) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or len(batch) * longest * rows <= budget
    order = [lengths[number] for batch in batches for number in batch]
    assert order == sorted(lengths, reverse=True)
    # No batch could have taken in the next document as well.
    for batch in batches[:-1]:
        assert (len(batch) + 1) * lengths[batch[0]] * rows > budget


@pytest.mark.parametrize(
    "failure",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
    ],
)
def test_a_batch_is_halved_until_it_fits(failure):
    done = []

    def work(numbers):
        if len(numbers) > 2:
            raise failure
        done.append(numbers)

    budget = MemoryBudget(1000)
    budget.run(list(range(7)), work)
    assert sorted(itertools.chain(*done)) == list(range(7))
    assert (budget.halved, budget.tokens) == (3, 125)
