"""Families that no table names write and score as transformers does."""

import pytest
import torch
from tiny_families import FAMILIES, PAD, build_family, sources

from brido.likelihood import candidate_log_likelihood
from brido.search import SearchSettings, beam_search


@pytest.mark.parametrize("kind", FAMILIES)
@torch.no_grad()
def test_a_family_writes_and_scores_as_transformers_does(kind):
    model, (ids, mask) = build_family(kind), sources()
    given, start = {"min_length": 4, "max_length": 10}, 0
    if not model.config.is_encoder_decoder:
        ids, mask, start = ids.flip(1), mask.flip(1), ids.shape[1]
        given = {"min_new_tokens": 4, "max_new_tokens": 10}
    if kind == "led":
        given["global_attention_mask"] = torch.zeros_like(ids)
        given["global_attention_mask"][:, 0] = 1
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, num_return_sequences=3, do_sample=False,
        return_dict_in_generate=True, output_scores=True, **given,
    )  # fmt: skip
    settings = SearchSettings(num_beams=3, max_length=10, min_length=4)
    texts = beam_search(model, ids, mask, settings).sequences
    assert torch.equal(texts.flatten(0, 1), expected.sequences[:, start:])
    if start:
        texts = torch.cat([ids[:, None, -1:].expand(-1, 3, -1), texts], 2)
    lengths = (texts[:, :, 1:] != PAD).sum(2)
    found = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found.flatten().float(), expected.sequences_scores)
