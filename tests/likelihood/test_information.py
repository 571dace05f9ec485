"""log p of candidates with their own and with other documents, against one row a pair, in float64.

A pair is a text and a source; each is one plain forward pass of the model, with nothing shared.
"""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_likelihood import block, plain
from tiny_decoders import build_decoder
from tiny_models import build_model

from brido.likelihood import information_terms
from brido.likelihood.information import cross_log_probability
from brido.models.decoder_only import last_tokens
from brido.models.tokens import Sources

ENCODER_DECODERS = ["bart", "mbart", "marian", "pegasus", "t5"]
DECODERS = ["llama", "gemma3", "gpt2", "qwen3"]
MODELS: dict = {}


def model_of(name):
    make = build_model if name in ENCODER_DECODERS else build_decoder
    return MODELS.setdefault(name, make(name, seed=3))


def one_row_a_pair(model, ids, mask, texts, lengths):
    """log p of every candidate with every source, [B, B, N]: a forward pass each."""
    return torch.stack(
        [
            plain(model, own.expand_as(ids), keep.expand_as(mask), texts, lengths)
            for own, keep in zip(ids, mask, strict=True)
        ]
    )


def check(model, sources, number, longest, seed, micro_batch):
    ids, mask, texts, lengths = block(model, sources, number, longest, seed)
    # Texts go on behind what counts, where padding would not.
    texts[torch.arange(longest + 1) > lengths[..., None]] = 7
    arguments = ids, mask, texts, lengths
    every = one_row_a_pair(model, *arguments)
    found = information_terms(model, *arguments, micro_batch)
    tolerance = {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(found.log_probability, every.diagonal().T, **tolerance)
    for document in range(len(sources)):
        others = [place for place in range(len(sources)) if place != document]
        wanted = every[others, document].mean(0)
        torch.testing.assert_close(found.prior[document], wanted, **tolerance)
    assert torch.equal(found.tokens, arguments[3])


@pytest.mark.parametrize("name", [*ENCODER_DECODERS, *DECODERS])
@pytest.mark.parametrize("micro_batch", [None, 2])
@torch.no_grad()
def test_a_block_equals_one_row_a_pair(name, micro_batch):
    check(model_of(name), [9, 4, 7], 3, 8, 1, micro_batch)


@given(
    sources=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    number=st.integers(1, 4),
    longest=st.integers(1, 7),
    micro_batch=st.sampled_from([None, 1, 3]),
    name=st.sampled_from(["bart", "pegasus", "llama", "gemma3"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@torch.no_grad()
def test_blocks_of_any_shape(sources, number, longest, micro_batch, name, seed):
    check(model_of(name), sources, number, longest, seed, micro_batch)


@torch.no_grad()
def test_texts_of_some_documents_with_the_sources_of_others():
    """What the pipeline asks for where a block has documents that give their source alone."""
    model = model_of("llama")
    ids, mask, candidates, lengths = block(model, [9, 4, 7], 2, 5, 1)
    every = one_row_a_pair(model, ids, mask, candidates, lengths)
    given = last_tokens(Sources(ids, mask))
    found = cross_log_probability(model, ids, mask, candidates[1], lengths[1], given)
    torch.testing.assert_close(found, every[:, 1], rtol=1e-9, atol=1e-9)
