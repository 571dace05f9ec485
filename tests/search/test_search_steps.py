"""The steps of a search, each against a slow and obvious version."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from brido.models.tokens import SpecialTokens
from brido.search import SamplingSettings
from brido.search.drawing import draw
from brido.search.groups import GroupOptions, choose
from brido.search.token_by_token import ban_tokens


def naive_bans(history, size):
    """Tokens that would make the last `size` tokens an n-gram that is there already."""
    seen = {tuple(history[i : i + size]) for i in range(len(history) - size + 1)}
    tail = tuple(history[len(history) - size + 1 :]) if size > 1 else ()
    return {token for token in range(8) if (*tail, token) in seen}


@settings(max_examples=200)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=14), st.integers(1, 4))
def test_n_gram_bans_equal_the_naive_rule(history, size):
    special = SpecialTokens((7,), 1)
    values = ban_tokens(torch.zeros(1, 8), torch.tensor([history]), special, False, size)
    banned = {token for token in range(8) if values[0, token] == -torch.inf}
    expected = naive_bans(history, size) if len(history) >= size else set()
    assert banned == expected
    assert all(values[0, token] == 0 for token in set(range(8)) - banned)


def naive_next_tokens(scores, running, done, penalty, end, pad, cost):
    """Diverse beam search's step for one document over the whole vocabulary, in plain loops.

    cost: as scores, how many times the penalty counts.
    """
    beams, vocabulary = scores.shape
    groups = len(done)
    size = beams // groups
    taken: list[int] = []
    for group in range(groups):
        if done[group]:
            taken += [pad] * size
            continue
        options = [
            (
                scores[row, token] - penalty * taken.count(token) * cost[row, token] + running[row],
                token,
            )
            for row in range(group * size, group * size + size)
            for token in range(vocabulary)
        ]
        best = sorted(options, key=lambda option: -option[0])[: 2 * size]
        taken += [token for _, token in best if token != end][:size]
    return taken


@pytest.mark.parametrize(("beams", "groups"), [(4, 4), (6, 3), (8, 2)])
@pytest.mark.parametrize("penalty", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("costs", [False, True])
def test_choosing_equals_plain_loops_over_the_vocabulary(beams, groups, penalty, costs):
    generator = torch.Generator().manual_seed(beams)
    # Beams of a document want much the same tokens, so that several groups take one.
    logits = 3 * torch.randn(5, 1, 40, generator=generator)
    logits = logits + torch.randn(5, beams, 40, generator=generator)
    log_probabilities = logits.flatten(0, 1).log_softmax(-1)
    running = -torch.rand(5, beams, generator=generator)
    done = torch.rand(5, groups, generator=generator) < 0.3
    every_cost = torch.randint(1, 4, (5 * beams, 40), generator=generator).float()
    values, tokens = log_probabilities.topk(beams + 1, dim=1)
    cost = every_cost.gather(1, tokens) if costs else None
    every_cost = (every_cost if costs else torch.ones_like(every_cost)).view(5, beams, 40)
    values, tokens = values.view(5, beams, -1), tokens.view(5, beams, -1)
    special = SpecialTokens((39,), 1)
    choice = choose(GroupOptions(values, tokens, running, done, penalty, 40, special, cost))
    for document in range(5):
        expected = naive_next_tokens(
            log_probabilities.view(5, beams, 40)[document],
            running[document],
            done[document].tolist(),
            penalty,
            end=39,
            pad=1,
            cost=every_cost[document],
        )
        assert choice.next_tokens[document].flatten().tolist() == expected


WARPERS = {
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
}
TRUNCATIONS = [
    {},
    {"temperature": 0.6},
    {"top_k": 7},
    {"top_k": 10_000},
    {"top_p": 0.95},
    {"top_p": 0.9999},
    {"min_p": 0.05},
    {"temperature": 1.5, "top_k": 20, "top_p": 0.8, "min_p": 0.03},
    {"top_k": 600, "min_p": 2e-3},
    {"top_k": 30, "min_p": 0.2},
]


@pytest.mark.parametrize("truncation", TRUNCATIONS, ids=str)
@pytest.mark.parametrize("columns", [50, 1500])
def test_drawn_is_from_what_the_warpers_of_transformers_leave(truncation, columns):
    logits = torch.randn(3, columns, generator=torch.Generator().manual_seed(1)).double() * 2
    left = logits
    for name, warper in WARPERS.items():
        if name in truncation:
            left = warper(truncation[name])(None, left)
    shares = left.softmax(-1)
    uniforms = torch.linspace(0, 1, 2001, dtype=torch.float64)[:-1]
    settings = SamplingSettings(**truncation)
    for row in range(3):
        drawn = draw(logits[row].repeat(2000, 1), settings, uniforms)
        frequency = torch.bincount(drawn, minlength=columns) / 2000
        assert not (frequency[shares[row] == 0] > 0).any()
        # Evenly spread numbers draw each token as often as its share says, but for one draw.
        assert ((frequency - shares[row]).abs() <= 1.01 / 2000).all()
