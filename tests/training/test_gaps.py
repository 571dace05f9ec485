"""The smallest gap that trains, against sorted gaps; pairs below it cost nothing."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from brido.training.gaps import smallest_gap
from brido.training.loss import contrastive_loss
from brido.utils.errors import BridoError


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan]), min_size=3, max_size=3),
        min_size=1, max_size=6,
    ),
    st.floats(0, 0.99),
)  # fmt: skip
def test_the_smallest_gap_is_a_quantile_of_all(scores, quantile):
    gaps = sorted(
        abs(row[i] - row[j])
        for row in scores
        for i in range(3)
        for j in range(i)
        if not math.isnan(row[i] + row[j])
    )
    place = math.ceil(quantile * (len(gaps) - 1)) if gaps else 0
    wanted = gaps[place] if gaps and quantile else 0.0
    assert smallest_gap(np.array(scores), quantile) == pytest.approx(wanted)


def test_a_quarter_of_four_gaps_is_one():
    scores = np.array([[0.0, 0.1], [0.0, 0.2], [0.3, 0.0], [0.4, 0.0]])
    gap = smallest_gap(scores, 0.25)
    assert (abs(scores[:, 0] - scores[:, 1]) < gap).sum() == 1


def test_a_quantile_is_a_share_below_1():
    with pytest.raises(BridoError, match="quantile"):
        smallest_gap(np.zeros((2, 2)), 1.0)


@pytest.mark.parametrize("reduction", ["listing", "sum"])
def test_a_pair_below_the_smallest_gap_costs_nothing_and_has_no_gradient(reduction):
    scores = torch.tensor([[0.9, 0.8, 0.1]], dtype=torch.float64)
    likelihood = torch.tensor([[-3.0, -2.0, -1.0]], dtype=torch.float64, requires_grad=True)
    loss = contrastive_loss(likelihood, scores, 1.0, "difference", reduction, min_gap=0.2)
    # Left: 1 and 3 (offset 2), 2 and 3 (offset 1, of two).
    costs = -1.0 + 3.0 + 0.8, -1.0 + 2.0 + 0.7
    wanted = costs[0] + costs[1] / (2 if reduction == "listing" else 1)
    assert loss.item() == pytest.approx(wanted)
    (gradient,) = torch.autograd.grad(loss, likelihood)
    half = 0.5 if reduction == "listing" else 1.0
    assert gradient.tolist() == [pytest.approx([-1.0, -half, 1.0 + half])]
    whole = contrastive_loss(likelihood, scores, 1.0, "difference", reduction)
    assert whole.item() > loss.item()
