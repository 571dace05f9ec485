"""The decoders of a search against the model's own forward pass over whole sequences."""

import itertools

import pytest
import tiny_decoders
import torch
from tiny_decoders import build_decoder, build_prompts
from tiny_models import FAMILIES, build_model, build_sources

from brido.models.decoder_steps import PlainSteps, PromptSteps, SharedSteps
from brido.models.family import family_of
from brido.models.tokens import Sources

DOCUMENTS, ROWS, STEPS = 3, 4, 6


def published_model(family):
    """A model with what published checkpoints have and the default settings do not."""
    model = build_model(family, 1, scale_embedding=True, activation_function="swish")
    torch.manual_seed(1)
    model.final_logits_bias.normal_()
    return model


def tokens_of(seed, *shape):
    return torch.randint(3, 61, shape, generator=torch.Generator().manual_seed(seed))


def full_logits(model, sources, mask, rows):
    """Logits [R, V] behind rows of tokens [R, t]: each in a pass of its own, without padding."""
    found = []
    for number, row in enumerate(rows):
        place = number // (len(rows) // len(sources))
        own = sources[place][mask[place].bool()]
        if model.config.is_encoder_decoder:
            logits = model(input_ids=own[None], decoder_input_ids=row[None]).logits
        else:
            logits = model(torch.cat([own, row])[None]).logits
        found.append(logits[0, -1])
    return torch.stack(found)


@pytest.mark.parametrize(
    ("family", "prefix", "side"),
    [
        *itertools.product(FAMILIES, [1, 2], ["none", "right"]),
        *itertools.product(tiny_decoders.FAMILIES, [0], ["left", "right"]),
    ],
)
@torch.no_grad()
def test_steps_have_the_logits_of_the_whole_sequence(family, prefix, side):
    if family in tiny_decoders.FAMILIES:
        model = build_decoder(family, 3)
        sources, mask = build_prompts(5, DOCUMENTS, 9, padded=True, side=side)
    else:
        model = build_model("t5", 1) if family == "t5" else published_model(family)
        sources, mask = build_sources("bart", 2, DOCUMENTS, 9, padded=side == "right")
    steps = family_of(model.config).steps(model, Sources(sources, mask), prefix + STEPS)
    assert isinstance(steps, {"t5": PlainSteps}.get(family, SharedSteps if prefix else PromptSteps))
    history = tokens_of(3, DOCUMENTS, prefix)
    logits = steps.start(history, ROWS)
    torch.testing.assert_close(logits, full_logits(model, sources, mask, history))
    history = history.repeat_interleave(ROWS, 0)
    for step in range(STEPS):
        token = tokens_of(step, len(history))
        history = torch.cat([history, token[:, None]], dim=1)
        expected = full_logits(model, sources, mask, history)
        torch.testing.assert_close(steps.step(token), expected)
        # Rows go on from others of their document; then a document leaves.
        moved = tokens_of(step, len(sources), ROWS) % ROWS
        rows = (torch.arange(len(sources))[:, None] * ROWS + moved).flatten()
        steps.reorder(rows)
        history = history[rows]
        if step == 2:
            left = torch.tensor([0, 2])
            steps.keep(left, ROWS)
            sources, mask = sources[left], mask[left]
            history = history.view(DOCUMENTS, ROWS, -1)[left].flatten(0, 1)
