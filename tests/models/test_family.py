"""The families, and one that is registered from outside of the package."""

import dataclasses

import pytest
import torch
import transformers
from tiny_decoders import GEMMA, SHAPE, TOKENS, build_prompts
from tiny_models import build_model, build_sources, word_tokenizer
from transformers import Gemma2Config, Gemma2ForCausalLM

from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models import family as families
from brido.models.decoder_only import DecoderOnly
from brido.models.decoder_steps import PlainSteps
from brido.models.encoder_decoder import EncoderDecoder
from brido.models.settings import ReadingSettings
from brido.models.sharing.attention import PlainStates
from brido.models.tokens import Sources
from brido.search import SearchSettings, beam_search
from brido.utils.errors import BridoError

KNOWN = dict(families.FAMILIES)


@pytest.fixture(autouse=True)
def _families_as_before(monkeypatch):
    # Unknown families that other tests of this process met would not be named again.
    monkeypatch.setattr(families, "FAMILIES", dict(KNOWN))


@pytest.mark.parametrize(("kind", "rows"), [("Bert", 16), ("Roberta", 18)])
@torch.no_grad()
def test_two_models_put_together_have_the_positions_of_each(kind, rows):
    """As bert2bert and roberta2roberta, which summarize CNN/DM and XSum."""
    sizes = {"vocab_size": 44, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 16, "pad_token_id": 1}
    config_of = getattr(transformers, f"{kind}Config")
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        config_of(**sizes, max_position_embeddings=rows),
        config_of(**sizes, max_position_embeddings=rows - 4),
    )
    model = transformers.EncoderDecoderModel(config).eval()
    tokens = {"decoder_start_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    model.generation_config.update(**tokens)
    tokenizer = word_tokenizer()
    own = LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=16))
    sources = own.read(["w1 w2 " * 20])
    read = model, sources.ids, sources.mask
    assert beam_search(*read, SearchSettings(max_length=13, min_length=13)).sequences.shape[2] == 13
    with pytest.raises(BridoError, match="12 positions"):
        beam_search(*read, SearchSettings(max_length=14))
    with pytest.raises(BridoError, match="16 positions"):
        LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=17))


def test_sources_are_taken_without_columns_that_only_others_needed():
    ids = torch.tensor([[5, 6, 7], [8, 9, 1], [1, 4, 3]])
    mask = torch.tensor([[1, 1, 1], [1, 1, 0], [0, 1, 1]])
    part = Sources(ids, mask, (0,)).take([1])
    assert part.ids.tolist() == [[8, 9]]
    left = Sources(ids, mask).take([2])
    assert left.ids.tolist() == [[4, 3]]


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
