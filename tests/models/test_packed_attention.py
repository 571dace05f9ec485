"""Attention of packed rows is torch's own under the rows' mask."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from transformers import LlamaConfig, LlamaForCausalLM

from brido.likelihood import candidate_log_likelihood
from brido.models.family import family_of
from brido.models.sharing import packed_attention
from brido.models.sharing.packed_attention import PACKED_ROWS, packings
from brido.training.devices import checkpoint_layers

HEADS, GROUPS, DIM = 2, 3, 4
LAYER = SimpleNamespace(num_key_value_groups=GROUPS, is_causal=True)


def make(rows, width=0, dtype=torch.float64):
    """Queries, keys, values and the mask of rows, each (kept, prompt, lengths of its texts).

    Kept keys, padded on the left to `width`, stand in front of the rows.
    """
    columns = max(prompt + sum(texts) for _, prompt, texts in rows)
    owners = torch.full((len(rows), columns), -1)
    mask = torch.zeros(len(rows), 1, columns, width + columns, dtype=torch.bool)
    for row, (kept, prompt, texts) in enumerate(rows):
        place = prompt
        owners[row, :prompt] = 0
        mask[row, 0, : prompt + sum(texts), width - kept : width] = True
        for number, length in enumerate(texts):
            owners[row, place : place + length] = number + 1
            place += length
        for query in range(columns):
            for key in range(query + 1):
                alike = owners[row, key] in (0, owners[row, query])
                if (alike and owners[row, query] >= 0 and owners[row, key] >= 0) or key == query:
                    mask[row, 0, query, width + key] = True
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(len(rows), HEADS * GROUPS, columns, DIM, generator=generator).to(dtype)
    key, value = (
        torch.randn(len(rows), HEADS, width + columns, DIM, generator=generator).to(dtype)
        for _ in range(2)
    )
    mask.packings = packings(owners, [kept for kept, _, _ in rows], width)
    return [part.requires_grad_() for part in (query, key, value)], mask, owners >= 0


def ours(query, key, value, mask, **options):
    return packed_attention._attend(LAYER, query, key, value, mask, **options)[0]


def plain(query, key, value, mask, scale=None):
    key, value = (part.repeat_interleave(GROUPS, 1) for part in (key, value))
    found = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    return found.transpose(1, 2)


def assert_alike(rows, width=0):
    parts, mask, real = make(rows, width)
    found, expected = ours(*parts, mask, scaling=0.3), plain(*parts, mask, 0.3)
    torch.testing.assert_close(found[real], expected[real])
    weights = torch.randn(expected[real].shape, dtype=torch.float64)
    gradients, wanted = (
        torch.autograd.grad((value[real] * weights).sum(), parts) for value in (found, expected)
    )
    for gradient, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(gradient, other)


LENGTHS = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@given(rows=st.lists(st.tuples(st.just(0), st.integers(1, 6), LENGTHS), min_size=1, max_size=3))
def test_rows_with_their_prompts(rows):
    assert_alike(rows)


@given(rows=st.lists(st.tuples(st.integers(0, 7), st.just(1), LENGTHS), min_size=1, max_size=3))
def test_rows_behind_prompts_that_are_kept(rows):
    assert_alike(rows, 7)


def test_texts_in_parts(monkeypatch):
    monkeypatch.setattr(packed_attention, "_ELEMENTS", 150)
    assert_alike([(0, 5, [2, 3, 1, 4, 2]), (0, 2, [3])])


@pytest.mark.parametrize("reason", ["dropout", "bfloat16", "autocast", "no packing"])
def test_torch_attends_where_this_cannot(reason, monkeypatch):
    rows = [(0, 3, [2, 4])]
    parts, mask, real = make(rows, dtype=torch.bfloat16 if reason == "bfloat16" else torch.float32)
    if reason == "no packing":
        del mask.packings
    monkeypatch.setattr(packed_attention, "_document", lambda *_: 1 / 0)
    with torch.autocast("cpu", torch.bfloat16, enabled=reason == "autocast"):
        found = ours(*parts, mask, dropout=1e-9 if reason == "dropout" else 0.0)
        expected = plain(*parts, mask)
    torch.testing.assert_close(found[real], expected[real])


def build(**changes):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=24, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, pad_token_id=1, **changes,
    )  # fmt: skip
    return LlamaForCausalLM(config).double()


def likelihood(model, texts=3):
    torch.manual_seed(1)
    source, rows = torch.randint(4, 50, (2, 9)), torch.randint(4, 50, (2, texts, 6))
    rows[:, :, 0] = source[:, -1:]
    lengths = torch.tensor([[5, 4, 1], [2, 5, 5]])[:, :texts]
    return candidate_log_likelihood(model, source, torch.ones_like(source), rows, 1.0, lengths)


@pytest.fixture
def calls(monkeypatch):
    """Documents that were attended to here."""
    seen, attend = [], packed_attention._document

    def document(*arguments):
        seen.append(arguments)
        return attend(*arguments)

    monkeypatch.setattr(packed_attention, "_document", document)
    return seen


def test_it_runs_in_every_layer_and_is_left_behind(calls):
    model = build()
    likelihood(model)
    assert len(calls) == 2 * 2
    assert model.config._attn_implementation == "sdpa"


def test_layers_that_run_again_run_alike(calls):
    model, other = build().train(), build().train()
    checkpoint_layers(other)
    expected = torch.autograd.grad(likelihood(model).sum(), list(model.parameters()))
    calls.clear()
    found = torch.autograd.grad(likelihood(other).sum(), list(other.parameters()))
    # Nothing tells a layer in the backward pass, unless the block stands around both.
    assert not calls
    with family_of(other.config).training(other):
        again = torch.autograd.grad(likelihood(other).sum(), list(other.parameters()))
        assert other.config._attn_implementation == PACKED_ROWS
    assert len(calls) == 2 * 2 * 2
    assert other.config._attn_implementation == "sdpa"
    for first, second, third in zip(expected, found, again, strict=True):
        torch.testing.assert_close(second, first)
        torch.testing.assert_close(third, first)


def test_another_way_to_attend_stays(calls):
    model = build(attn_implementation="eager")
    with packed_attention.packed_attention(model):
        assert model.config._attn_implementation == "eager"
    likelihood(model)
    assert not calls
