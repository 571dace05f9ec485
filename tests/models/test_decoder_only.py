"""Decoder-only models: what they are, read, write and score."""

import pytest
import transformers
from tiny_chat import NO_SYSTEM, PAD, chat_tokenizer, tiny_llama

from brido.models import LanguageModel
from brido.models import family as families
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError

DOCUMENTS = ["the cat sat in the cat", "the cat", "the cat sat " * 30]


def language(limit=64, chat=None, **keys):
    reading = ReadingSettings(max_source_tokens=limit, prompt="{{ document }}\n", **keys)
    return LanguageModel(tiny_llama(), chat_tokenizer(chat), reading)


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        *((name, {}, "layers other than plain attention")
          for name in ("Mamba", "RecurrentGemma", "Rwkv", "Qwen3Next", "Jamba")),
        ("Lfm2", {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]}, "a lfm2"),
        *((name, {}, "does not write text")
          for name in ("Bert", "BertGeneration", "Roberta", "CLIP", "Mistral3", "Qwen3VL",
                       "XLNet", "OpenAIGPT", "ProphetNet", "FSMT")),
    ],
)  # fmt: skip
def test_a_model_that_writes_no_text_or_not_by_attention_alone_is_refused(name, settings, why):
    with pytest.raises(BridoError, match=why) as error:
        families.family_of(getattr(transformers, f"{name}Config")(**settings))
    assert "\n" not in str(error.value)


def test_prompts_are_padded_in_front_and_cut_documents_named():
    sources = language().read(DOCUMENTS)
    assert sources.cut == (2,)
    assert sources.ids.shape == (3, 64)
    short = int(sources.mask[1].sum())
    assert sources.mask[1].tolist() == [0] * (64 - short) + [1] * short
    assert sources.ids[1, : 64 - short].unique().tolist() == [PAD]
    text = language().tokenizer.decode(sources.ids[1, 64 - short :])
    assert text == "<s>the cat\n"


def test_what_is_scored_is_the_summary_and_its_end():
    model = language(chat=NO_SYSTEM)
    sources = model.read(DOCUMENTS[:2])
    targets = model.write([["the cat", "sat"], ["in <|end|>", ""]], sources, limit=20)
    assert targets.ids[:, :, 0].unique().tolist() == sources.ids[:, -1].unique().tolist()
    rows = zip(targets.ids.flatten(0, 1), targets.lengths.flatten(), strict=True)
    scored = [model.tokenizer.decode(ids[1 : 1 + length]) for ids, length in rows]
    assert scored == ["the cat<|end|>", "sat<|end|>", "in <|end|><|end|>", "<|end|>"]
    # The end that a text spells is no end token: ten tokens, and the last is the one.
    assert targets.lengths.tolist() == [[3, 4], [10, 1]]
