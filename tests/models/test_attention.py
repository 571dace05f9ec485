"""Shared attention against the plain one, with repeated encoder states."""

import pytest
import torch
from plain_likelihood import block
from tiny_decoders import build_decoder
from tiny_models import build_model, build_sources
from transformers import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from brido.likelihood import candidate_log_likelihood
from brido.models.sharing.attention import SHARED, no_mask, share_attention, source_mask
from brido.search import SearchSettings, beam_search

SHARING = ["bart", "mbart", "marian", "pegasus"]
CANDIDATES = 3


def encoded(model, family, seed=3):
    source, mask = build_sources(family, seed, documents=4, length=9, padded=True)
    states = model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state
    return states, mask


def candidate_ids(rows, length, seed=5):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, 61, (rows, length), generator=generator)


def logits_with_repeated_states(model, states, mask, ids):
    return model(
        encoder_outputs=BaseModelOutput(states.repeat_interleave(CANDIDATES, 0)),
        attention_mask=mask.repeat_interleave(CANDIDATES, 0),
        decoder_input_ids=ids,
    ).logits


@pytest.mark.parametrize("family", SHARING)
def test_many_tokens_and_their_gradients_equal_the_repeated_states(family):
    model = build_model(family, seed=1).train()
    states, mask = encoded(model, family)
    ids = candidate_ids(4 * CANDIDATES, 7)

    expected = logits_with_repeated_states(model, states, mask, ids)
    parameters = [p for p in model.parameters() if p.requires_grad]
    expected_gradients = torch.autograd.grad(expected.square().sum(), parameters, retain_graph=True)
    assert share_attention(model)
    logits = model(
        encoder_outputs=BaseModelOutput(states),
        attention_mask=source_mask(mask),
        decoder_input_ids=ids,
    ).logits
    gradients = torch.autograd.grad(logits.square().sum(), parameters)

    torch.testing.assert_close(logits, expected, rtol=1e-11, atol=1e-11)
    for gradient, wanted in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", SHARING)
@torch.no_grad()
def test_single_tokens_with_a_cache_equal_the_repeated_states(family):
    model = build_model(family, seed=2)
    states, mask = encoded(model, family)
    ids = candidate_ids(4 * CANDIDATES, 6)
    expected = logits_with_repeated_states(model, states, mask, ids)

    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    assert share_attention(model)
    for step in range(ids.shape[1]):
        logits = model(
            encoder_outputs=BaseModelOutput(states),
            attention_mask=source_mask(mask),
            decoder_input_ids=ids[:, step : step + 1],
            decoder_attention_mask=no_mask(ids.device),
            past_key_values=cache,
            use_cache=True,
        ).logits
        torch.testing.assert_close(logits[:, 0], expected[:, step], rtol=1e-11, atol=1e-11)

    assert cache.cross_attention_cache.layers[0].keys.shape[0] == 4
    assert cache.self_attention_cache.layers[0].keys.shape[0] == 4 * CANDIDATES


@pytest.mark.parametrize("make", [lambda: build_model("bart", 1), lambda: build_decoder("gpt2", 1)])
@torch.no_grad()
def test_attention_is_set_once_and_is_otherwise_that_of_transformers(make):
    model = make()
    ids, mask, texts, lengths = block(model, [9, 5], 3, 6, 5)
    given = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = texts[:, 0]
    expected = model(**given).logits
    found = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    assert model.config._attn_implementation == SHARED
    assert torch.equal(model(**given).logits, expected)
    # A model that was loaded with another attention keeps it, and shares nothing.
    model.set_attn_implementation("eager")
    other = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    torch.testing.assert_close(other, found)
    settings = SearchSettings(num_beams=3, max_length=8)
    written = beam_search(model, ids, mask, settings).sequences
    assert model.config._attn_implementation == "eager"
    model.set_attn_implementation("sdpa")
    assert torch.equal(beam_search(model, ids, mask, settings).sequences, written)
    assert model.config._attn_implementation == SHARED


def test_what_is_saved_knows_nothing_of_it(tmp_path):
    model = build_model("bart", seed=1)
    share_attention(model)
    model.save_pretrained(tmp_path)
    assert "brido" not in (tmp_path / "config.json").read_text()
