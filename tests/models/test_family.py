"""The families, and one that is registered from outside of the package."""

import pytest
import torch
from tiny_decoders import GEMMA, SHAPE, TOKENS, build_prompts
from transformers import Gemma2Config, Gemma2ForCausalLM

from brido.models import family as families
from brido.models.decoder_only import DecoderOnly
from brido.search import SearchSettings, beam_search

KNOWN = dict(families.FAMILIES)


@pytest.fixture(autouse=True)
def _families_as_before(monkeypatch):
    # Unknown families that other tests of this process met would not be named again.
    monkeypatch.setattr(families, "FAMILIES", dict(KNOWN))


@torch.no_grad()
def test_the_soft_cap_of_a_families_attention_holds_behind_a_shared_prompt():
    families.register(DecoderOnly("gemma2"))
    torch.manual_seed(0)
    config = Gemma2Config(**SHAPE, **TOKENS, **GEMMA, attn_logit_softcapping=0.5)
    model = Gemma2ForCausalLM(config).eval()
    for weight in model.parameters():
        weight.normal_()
    ids, mask = build_prompts(0, documents=2, length=9, padded=False)
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, max_new_tokens=8, do_sample=False
    )
    found = beam_search(model, ids, mask, SearchSettings(num_beams=3, max_length=8))
    assert torch.equal(found.sequences[:, 0], expected[:, ids.shape[1] :])
