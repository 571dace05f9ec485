"""What models, searches and likelihoods refuse: the call, and what its message names."""

import pytest
import torch
from tiny_chat import chat_tokenizer, tiny_llama
from tiny_decoders import build_decoder, build_prompts
from tiny_families import build_family
from tiny_families import sources as family_sources
from tiny_models import build_model, build_sources, tiny_bart, word_tokenizer

from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search import SamplingSettings, SearchSettings, beam_search, diverse_beam_search, sample
from brido.utils.errors import BridoError

BART = build_model("bart", 0)
IDS, MASK = build_sources("bart", 0, documents=2, length=6, padded=True)
TEXTS = torch.tensor([[[2, 5, 2]], [[2, 6, 2]]])
BEAMS, GREEDY = SearchSettings(num_beams=2, max_length=6), SearchSettings(max_length=6)
GROUPS = BEAMS.model_copy(update={"num_beam_groups": 2})
SAMPLES = SamplingSettings(num_return_sequences=2, max_length=6)
UNIFORMS = torch.zeros(2, 2, 6)
ENGINES = {
    "beams": lambda ids, mask: beam_search(BART, ids, mask, BEAMS).sequences,
    "greedy": lambda ids, mask: beam_search(BART, ids, mask, GREEDY).sequences,
    "groups": lambda ids, mask: diverse_beam_search(BART, ids, mask, GROUPS).sequences,
    "samples": lambda ids, mask: sample(BART, ids, mask, SAMPLES, UNIFORMS).sequences,
    "likelihood": lambda ids, mask: candidate_log_likelihood(BART, ids, mask, TEXTS, 1.0),
}


SOURCES = [
    (IDS[0], MASK[0], r"not \[6\] and \[6\]; one document is input_ids"),
    (IDS, None, "attention_mask must be a tensor"),
    (IDS, MASK[:, 1:], "must both be"),
    # The mask that is added to attention's scores, and the numbers of packed texts.
    (IDS, MASK.float().log(), "attention_mask must be 1 for tokens"),
    (IDS.float(), MASK, "input_ids must hold whole numbers"),
    (IDS + 9999, MASK, "holds tokens from .* are they of another tokenizer"),
    (IDS.flip(1), MASK.flip(1), "padding_side = 'right'"),
    ("the cat", MASK, "input_ids must be a tensor"),
    (IDS.repeat(1, 20), MASK.repeat(1, 20), "120 tokens .* 64 positions"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("ids", "mask", "named"), SOURCES, ids=[case[-1] for case in SOURCES])
def test_sources(engine, ids, mask, named):
    with pytest.raises(ValueError, match=named):
        ENGINES[engine](ids, mask)


CANDIDATES = [
    ({"candidate_ids": torch.zeros(2, 0, 3, dtype=torch.long)}, "at least one candidate"),
    ({"candidate_ids": torch.full((2, 1, 70), 2), "lengths": [[69], [3]]}, "64 positions"),
    ({"lengths": [[1.0], [2.0]]}, "lengths must hold whole numbers"),
    ({"lengths": [[1], [3]]}, "count 1 to 2 tokens"),
    ({"candidate_ids": [[[2, 5, 2], [0, 5, 2]]] * 2}, "same for all candidates"),
    # A tokenizer's own output, without the decoder's start token.
    ({"candidate_ids": [[[5, 6, 2]], [[6, 7, 2]]]}, "starts from"),
    ({"length_penalty": float("nan")}, "^length_penalty must be finite, not nan"),
]


@pytest.mark.parametrize(("changes", "named"), CANDIDATES, ids=str)
def test_candidates(changes, named):
    given = {"candidate_ids": TEXTS, "length_penalty": 1.0} | changes
    with pytest.raises(ValueError, match=named):
        candidate_log_likelihood(BART, IDS, MASK, **given)


def test_a_model_may_name_several_starts(monkeypatch):
    monkeypatch.setattr(BART.generation_config, "decoder_start_token_id", [2, 0])
    assert candidate_log_likelihood(BART, IDS, MASK, TEXTS, 1.0).shape == (2, 1)


def language(model, tokenizer, **reading):
    return LanguageModel(model, tokenizer, ReadingSettings(**{"max_source_tokens": 8} | reading))


READ = language(BART, word_tokenizer())
LLAMA, PROMPTS = build_decoder("llama", 9), build_prompts(9, 2, 6, padded=False)[0]
EMPTY = torch.tensor([[1] * 6, [0] * 6])
OTHERS = [
    (lambda: beam_search(LLAMA, PROMPTS, EMPTY, BEAMS), "prompt is empty"),
    (lambda: beam_search(BART, IDS, MASK, {"num_beams": 2}), r"be SearchSettings\(.*, not \{"),
    (lambda: sample(BART, IDS, MASK, SAMPLES, UNIFORMS[:, :, 1:]), r"6\], not \[2, 2, 5\]"),
    (lambda: READ.read("the cat"), "documents must be a list of texts, not one text"),
    (lambda: READ.write(["the cat"], None, 8), "texts must be a list of equally many"),
    *(
        (lambda k=kind: beam_search(
            build_family(k), *(part.flip(1) for part in family_sources()), BEAMS
        ), f"where a {kind} model may read other")
        for kind in ("led", "m2m_100", "longt5")
    ),
    *(
        (lambda p=prompt: language(tiny_bart(), word_tokenizer(), prompt=p), "prompt must contain")
        for prompt in ("no document", "{{ document[:3] }}", "{{ document | upper }}")
    ),
    *(
        (lambda p=prompt: language(tiny_bart(), word_tokenizer(), prompt=p, max_source_tokens=6),
         "the prompt has 6 tokens before any document")
        for prompt in ("w1 w2 w3 w4 {{ document }}", "{{ document }} w1 w2 w3 w4")
    ),
    (lambda: language(tiny_llama(), chat_tokenizer(None), prompt="word " * 9 + "{{ document }}"),
     "tokens before any document, and max_source_tokens is 8"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "named"), OTHERS)
def test_settings_texts_and_models(call, named):
    with pytest.raises(BridoError, match=named):
        call()


def test_a_model_in_training_writes_nothing():
    BART.train()
    try:
        with pytest.raises(BridoError, match=r"call model\.eval\(\) first"):
            beam_search(BART, IDS, MASK, BEAMS)
    finally:
        BART.eval()
