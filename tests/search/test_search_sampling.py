"""Sampling on whole models."""

import itertools

import pytest
import torch
from tiny_decoders import PAD, build_decoder, build_prompts
from tiny_models import build_model, build_sources
from transformers import NoRepeatNGramLogitsProcessor, RepetitionPenaltyLogitsProcessor

from brido.search import SamplingSettings
from brido.search.drawing import draw
from brido.search.sampling import document_uniforms, sample

SETTINGS = SamplingSettings(
    num_return_sequences=3, temperature=0.8, top_k=30, top_p=0.9, min_p=0.01, max_length=10,
    no_repeat_ngram_size=2,
)  # fmt: skip


def slow_sample(model, source, uniforms, settings):
    """One row without a cache: the model asked anew for every token."""
    special, behind = model.generation_config, not model.config.is_encoder_decoder
    tokens, total = [] if behind else [special.decoder_start_token_id], 0.0
    given, ends = len(tokens), torch.tensor(special.eos_token_id).flatten().tolist()
    while len(tokens) < settings.max_length:
        ids = torch.tensor([tokens], dtype=torch.long)
        if behind:
            ids = torch.cat([source, ids], 1)
            logits = model(ids).logits[:, -1]
        else:
            logits = model(input_ids=source, decoder_input_ids=ids).logits[:, -1]
        scored = RepetitionPenaltyLogitsProcessor(1.4)(ids, logits.clone())
        scored = NoRepeatNGramLogitsProcessor(2)(ids, scored)
        if behind:
            scored[0, PAD] = -torch.inf
        token = int(draw(scored, settings, uniforms[len(tokens)][None]))
        total += float(logits[0].log_softmax(-1)[token])
        tokens.append(token)
        if token in ends:
            break
    return tokens, total / (len(tokens) - given) ** settings.length_penalty


@pytest.mark.parametrize("family", ["bart", "t5", "gemma3"])
@torch.no_grad()
def test_samples_and_scores_equal_a_slow_version(family):
    if family == "gemma3":
        model, (sources, mask) = build_decoder(family, 3, 3.0), build_prompts(3, 3, 9, padded=True)
    else:
        model, (sources, mask) = build_model(family, 3, 2.0), build_sources(family, 3, 3, 7, True)
    model.generation_config.repetition_penalty = 1.4
    uniforms = document_uniforms(0, ["x", "y", "z"], 3, SETTINGS.max_length)
    result = sample(model, sources, mask, SETTINGS, uniforms)
    for document, row in itertools.product(range(3), range(3)):
        source = sources[document][mask[document].bool()][None]
        expected, score = slow_sample(model, source, uniforms[document, row], SETTINGS)
        found = result.sequences[document, row].tolist()
        pads = [model.generation_config.pad_token_id] * (len(found) - len(expected))
        assert found == expected + pads
        assert float(result.scores[document, row]) == pytest.approx(score, rel=1e-5)
