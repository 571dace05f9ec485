"""Families that nobody has put into a table: equal to transformers, or refused with a reason."""

import warnings

import pytest
import torch
from tiny_families import FAMILIES, PAD, build_family, sources

from brido.likelihood import candidate_log_likelihood
from brido.search import SearchSettings, beam_search

SETTINGS = SearchSettings(num_beams=3, max_length=10, min_length=4)


@pytest.fixture(autouse=True)
def _unwarned():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def scored(model, ids, mask, written):
    """The likelihood of candidates [B, N, T] in one pass, and of each in a pass of its own."""
    lengths = (written[:, :, 1:] != PAD).sum(2)
    together = candidate_log_likelihood(model, ids, mask, written, 0.6, lengths)
    alone = [
        candidate_log_likelihood(
            model, ids[d : d + 1], mask[d : d + 1], written[d : d + 1, n : n + 1, : length + 1],
            0.6, lengths[d : d + 1, n : n + 1],
        )
        for d, row in enumerate(lengths.tolist())
        for n, length in enumerate(row)
    ]  # fmt: skip
    return together, torch.stack(alone).view_as(together)


@pytest.mark.parametrize("kind", [name for name in FAMILIES if "neox" not in name])
@torch.no_grad()
def test_an_encoder_decoder_writes_and_scores_as_transformers_does(kind):
    model = build_family(kind)
    ids, mask = sources()
    extra = {}
    if kind == "led":
        extra["global_attention_mask"] = torch.zeros_like(ids)
        extra["global_attention_mask"][:, 0] = 1
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, num_return_sequences=3, max_length=10,
        min_length=4, do_sample=False, **extra,
    )  # fmt: skip
    found = beam_search(model, ids, mask, SETTINGS).sequences
    assert torch.equal(found.flatten(0, 1), expected)
    together, alone = scored(model, ids, mask, found)
    assert together.dtype == torch.float64
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["gpt_neox"])
@torch.no_grad()
def test_pythia_writes_and_scores_as_transformers_does(kind):
    model = build_family(kind)
    ids, mask = (part.flip(1) for part in sources())
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, num_return_sequences=3, max_new_tokens=10,
        min_new_tokens=4, do_sample=False,
    )[:, ids.shape[1] :]  # fmt: skip
    found = beam_search(model, ids, mask, SETTINGS)
    assert torch.equal(found.sequences.flatten(0, 1), expected)
    given = ids[:, None, -1:].expand(-1, 3, -1)
    lengths = (found.sequences != PAD).sum(2)
    likelihood = candidate_log_likelihood(
        model, ids, mask, torch.cat([given, found.sequences], 2), 1.0, lengths
    )
    torch.testing.assert_close(likelihood.float(), found.scores)
