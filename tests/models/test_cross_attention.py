"""Shared cross-attention against the plain one with repeated encoder states."""

import pytest
import torch
from tiny_models import build_model, build_sources
from transformers import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from brido.models.family import family_of
from brido.models.sharing.cross_attention import no_mask, shared_cross_attention, source_mask

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
    with shared_cross_attention(model):
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
    with shared_cross_attention(model):
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


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_model_is_as_before_after_the_block(attention):
    model = build_model("bart", seed=1)
    model.set_attn_implementation(attention)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    source, mask = build_sources("bart", 3, documents=2, length=5, padded=True)
    expected = model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state

    def fail_inside():
        with shared_cross_attention(model):
            inside = model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state
            torch.testing.assert_close(inside, expected, rtol=1e-12, atol=1e-12)
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail_inside()

    assert model.config._attn_implementation == attention
    assert model.get_decoder().config._attn_implementation == attention
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_a_family_that_cannot_share_keeps_its_attention():
    model = build_model("t5", seed=1)
    with family_of(model.config).training(model):
        assert model.config._attn_implementation == "sdpa"
