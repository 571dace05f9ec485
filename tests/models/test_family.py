"""The families, and one that is registered from outside of the package."""

import dataclasses

import pytest
import torch
from tiny_decoders import GEMMA, SHAPE, TOKENS, build_prompts
from tiny_models import build_model, build_sources
from transformers import Gemma2Config, Gemma2ForCausalLM

from brido.likelihood import candidate_log_likelihood
from brido.models import family as families
from brido.models.decoder_only import DecoderOnly
from brido.models.decoder_steps import PlainSteps
from brido.models.encoder_decoder import EncoderDecoder
from brido.models.sharing.attention import PlainStates
from brido.search import SearchSettings, beam_search

KNOWN = dict(families.FAMILIES)


@pytest.fixture(autouse=True)
def _families_as_before(monkeypatch):
    # Unknown families that other tests of this process met would not be named again.
    monkeypatch.setattr(families, "FAMILIES", dict(KNOWN))


@dataclasses.dataclass(frozen=True)
class Reversed(EncoderDecoder):
    """A toy kind of model: it reads every source backwards and repeats it for every row."""

    calls: tuple[list[str], ...] = ([],)

    def steps(self, model, sources, limit):
        self.calls[0].append("steps")
        states = model.get_encoder()(sources.ids.flip(1), sources.mask.flip(1))[0]
        return PlainSteps(model, states, sources.mask.flip(1), (2,))

    def states(self, model, sources, given, passes):
        self.calls[0].append("states")
        states = model.get_encoder()(sources.ids.flip(1), sources.mask.flip(1))[0]
        return PlainStates(model, states, sources.mask.flip(1))


@torch.no_grad()
def test_a_family_from_outside_is_searched_and_scored(monkeypatch):
    model = build_model("bart", 4, 3.0)
    source, mask = build_sources("bart", 4, documents=2, length=6, padded=False)
    settings = SearchSettings(num_beams=3, max_length=9)
    expected = beam_search(model, source.flip(1), mask, settings).sequences
    likelihood = candidate_log_likelihood(model, source.flip(1), mask, expected, 1.0)

    toy = Reversed("toy", shares=False)
    families.register(toy)
    monkeypatch.setattr(type(model.config), "model_type", "toy")
    found = beam_search(model, source, mask, settings).sequences
    assert torch.equal(found, expected)
    torch.testing.assert_close(
        candidate_log_likelihood(model, source, mask, found, 1.0), likelihood
    )
    assert toy.calls[0] == ["steps", "states"]


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
