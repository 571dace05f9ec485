"""Sampling on whole models."""

import itertools

import pytest
import torch
from tiny_decoders import EOS, PAD, build_decoder, build_prompts
from tiny_models import build_model, build_sources
from transformers import RepetitionPenaltyLogitsProcessor, TopPLogitsWarper

from brido.search import SamplingSettings
from brido.search.drawing import draw
from brido.search.sampling import document_uniforms, sample

SETTINGS = SamplingSettings(
    num_return_sequences=3, temperature=0.8, top_p=0.9, max_length=10, no_repeat_ngram_size=2
)


def slow_sample(model, source, mask, uniforms, settings):
    """One row without a cache: the model asked anew for every token."""
    tokens, total = [model.generation_config.decoder_start_token_id], 0.0
    end = model.generation_config.eos_token_id
    while len(tokens) < settings.max_length:
        ids = torch.tensor([tokens])
        logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=ids).logits[0, -1]
        scored = logits.clone()
        pairs = set(itertools.pairwise(tokens))
        for token in range(len(scored)):
            if (tokens[-1], token) in pairs:
                scored[token] = -torch.inf
        scored = TopPLogitsWarper(settings.top_p)(None, scored[None] / settings.temperature)[0]
        order = scored.argsort(descending=True)
        mass = scored.softmax(-1)[order].cumsum(0)
        token = int(order[int((mass <= uniforms[len(tokens)]).sum())])
        total += float(logits.log_softmax(-1)[token])
        tokens.append(token)
        if token == end:
            break
    return tokens, total / (len(tokens) - 1) ** settings.length_penalty


@pytest.mark.parametrize("family", ["bart", "t5"])
@torch.no_grad()
def test_samples_and_scores_equal_a_slow_version(family):
    model = build_model(family, 3, 2.0)
    source, mask = build_sources(family, 3, documents=3, length=7, padded=True)
    uniforms = document_uniforms(0, ["x", "y", "z"], 3, SETTINGS.max_length)
    result = sample(model, source, mask, SETTINGS, uniforms)
    sequences, scores = result.sequences, result.scores
    for document in range(3):
        for row in range(3):
            one = slice(document, document + 1)
            expected, score = slow_sample(
                model, source[one], mask[one], uniforms[document, row], SETTINGS
            )
            found = sequences[document, row].tolist()
            assert found[: len(expected)] == expected
            assert set(found[len(expected) :]) <= {model.generation_config.pad_token_id}
            assert float(scores[document, row]) == pytest.approx(score, rel=1e-5)


def test_samples_do_not_depend_on_the_batch():
    model = build_model("bart", 4, 3.0)
    source, mask = build_sources("bart", 4, documents=4, length=7, padded=True)
    ids = ["a", "b", "c", "d"]
    uniforms = document_uniforms(1, ids, 3, 10)
    together = sample(model, source, mask, SETTINGS, uniforms).sequences
    for place, name in enumerate(ids):
        one = slice(place, place + 1)
        uniforms = document_uniforms(1, [name], 3, 10)
        alone = sample(model, source[one], mask[one], SETTINGS, uniforms).sequences
        width = min(alone.shape[2], together.shape[2])
        assert torch.equal(alone[0, :, :width], together[place, :, :width])


def slow_sample_behind(model, prompt, uniforms, settings):
    """One text without a cache: the model asked anew for every token."""
    text, total = [], 0.0
    while len(text) < settings.max_length:
        ids = torch.cat([prompt, torch.tensor(text, dtype=torch.long)])[None]
        logits = model(ids).logits[:, -1]
        scored = RepetitionPenaltyLogitsProcessor(1.4)(ids, logits.clone())
        scored[0, PAD] = -torch.inf
        token = int(draw(scored, settings, uniforms[len(text)][None]))
        total += float(logits[0].log_softmax(-1)[token])
        text.append(token)
        if token == EOS:
            break
    return text, total / len(text)


@torch.no_grad()
def test_samples_behind_prompts_equal_a_slow_version_in_any_batch():
    model = build_decoder("gemma3", 3, 3.0)
    model.generation_config.repetition_penalty = 1.4
    settings = SamplingSettings(
        num_return_sequences=3, temperature=0.8, top_k=9, min_p=0.01, max_length=10
    )
    prompts, mask = build_prompts(3, documents=3, length=9, padded=False)
    names = ["x", "y", "z"]
    uniforms = document_uniforms(0, names, 3, settings.max_length)
    result = sample(model, prompts, mask, settings, uniforms)
    turned = sample(model, prompts.flip(0), mask, settings, uniforms.flip(0))
    width = min(result.sequences.shape[2], turned.sequences.shape[2])
    assert torch.equal(result.sequences[..., :width], turned.sequences.flip(0)[..., :width])
    for document, row in itertools.product(range(3), range(3)):
        text, score = slow_sample_behind(
            model, prompts[document], uniforms[document, row], settings
        )
        found = result.sequences[document, row].tolist()
        assert found == text + [PAD] * (len(found) - len(text))
        assert float(result.scores[document, row]) == pytest.approx(score, rel=1e-5)
