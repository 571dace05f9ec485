"""What is drawn from a row of probabilities, against lists that are sorted and added up exactly."""

from fractions import Fraction

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brido.search import SamplingSettings
from brido.search.drawing import _place, draw_from


def slow_draw(row, rules, uniform):
    """The column that `uniform` draws, in fractions: what is left, then where the number falls."""
    left = [(value, column) for column, value in enumerate(row) if value > 0]
    if rules.top_k or rules.top_p < 1 or rules.min_p:
        left.sort(key=lambda pair: (-pair[0], pair[1]))
    mass = Fraction(1)
    if 0 < rules.top_k < len(left):
        kth = left[rules.top_k - 1][0]
        left = [pair for pair in left if pair[0] >= kth]
        mass = sum(value for value, _ in left)
    elif rules.top_k:
        mass = sum(value for value, _ in left)
    if rules.top_p < 1:
        before, kept = Fraction(0), []
        for value, column in left:
            if before < Fraction(rules.top_p) * mass:
                kept.append((value, column))
            before += value
        left = kept
    if rules.min_p:
        left = [pair for pair in left if pair[0] >= Fraction(rules.min_p) * left[0][0]]
    target, reached = Fraction(uniform) * sum(value for value, _ in left), Fraction(0)
    for value, column in left:
        reached += value
        if reached > target:
            return column
    raise AssertionError("a number below 1 falls on a column")


# Multiples of 2**-12 with few digits: every sum and product is exact in float64.
WEIGHTS = st.lists(st.sampled_from([0, 1, 2, 64, 65, 66, 128, 130, 260, 512]), min_size=2,
                   max_size=40).filter(any)  # fmt: skip
SHARES = st.sampled_from([0.125, 0.25, 0.5, 0.75, 0.875, 0.96875, 1.0])


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@settings(max_examples=300)
@given(
    WEIGHTS, st.integers(0, 12), SHARES, st.sampled_from([0, 1 / 64, 1 / 32, 0.25, 0.5]),
    st.integers(0, 255),
)  # fmt: skip
@example([64, 64, 64, 64], 2, 0.5, 0.0, 128)  # the nucleus ends among equals, and so does top_k
@example([512] * 8, 0, 0.5, 0.0, 128)  # a sum that is reached exactly
@example([512] * 8, 0, 1.0, 0.0, 128)  # the same where nothing is left out
@example([1024] * 3, 0, 0.53125, 0.0, 255)  # the nucleus is a share of 1, not of the sum
@example([128, 64, 64, 1], 0, 1.0, 0.5, 255)  # exactly the share of the largest
@example([64] * 6, 4, 0.25, 0.0, 255)  # the nucleus is a share of four, of which three are seen
def test_drawn_is_what_exact_sums_draw(kind, weights, top_k, top_p, min_p, number):
    row = [Fraction(weight, 4096) for weight in weights]
    rules = SamplingSettings(top_k=top_k, top_p=top_p, min_p=min_p)
    uniform = number / 256
    values = torch.tensor([[float(value) for value in row]], dtype=kind)
    drawn = draw_from(values, rules, torch.tensor([uniform], dtype=torch.float64))
    assert int(drawn) == slow_draw(row, rules, uniform)


RULES = [
    {},
    {"top_p": 0.95},
    {"temperature": 0.7, "top_p": 0.95},
    {"top_k": 50},
    {"top_k": 3000, "top_p": 0.9, "min_p": 1e-4},
    {"min_p": 0.001},
]


@pytest.mark.parametrize("columns", [700, 49_152, 262_144])
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_long_rows_are_drawn_from_as_if_they_were_sorted(rules, columns):
    generator = torch.Generator().manual_seed(columns)
    # Of different widths: some rows keep a few tokens, some half a vocabulary.
    logits = torch.randn(4, columns, generator=generator) * torch.tensor([[0.1], [1], [2.5], [9]])
    logits[:, ::7] = -torch.inf
    uniforms = torch.rand(4, generator=generator, dtype=torch.float64)
    rules = SamplingSettings(**rules)
    probabilities = (logits / rules.temperature).softmax(-1)
    found = draw_from(probabilities, rules, uniforms)
    for row, uniform, drawn in zip(probabilities.double(), uniforms, found, strict=True):
        values, order = row.sort(descending=True, stable=True)
        if rules == SamplingSettings():
            values, order = row, torch.arange(columns)
        mass = 1.0
        if rules.top_k:
            values = values[values >= values[: rules.top_k][-1]]
            mass = values.sum()
        if rules.top_p < 1:
            values = values[values.cumsum(0) - values < rules.top_p * mass]
        values = values[values >= rules.min_p * values.max()]
        sums = values.cumsum(0)
        assert drawn == order[torch.searchsorted(sums, uniform * sums[-1], right=True)]


def test_a_sum_that_is_never_reached_gives_the_last_token_of_a_weight():
    sums = torch.tensor([[0.25, 0.5, 0.5]], dtype=torch.float64)
    for target, beyond, place in ((0.25, False, 0), (0.25, True, 1), (0.5, True, 1), (9, False, 1)):
        assert _place(sums, torch.full_like(sums[:, :1], target), beyond) == place


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_of_a_row_of_nan_some_token_is_drawn(rules):
    """The search ends with an error of its own."""
    rows = torch.tensor([[torch.nan, torch.nan], [0.25, 0.75]])
    uniforms, rules = torch.tensor([0.5, 0.5], dtype=torch.float64), SamplingSettings(**rules)
    for some in (rows, rows[:1]):
        assert set(draw_from(some, rules, uniforms[: len(some)]).tolist()) <= {0, 1}
