"""Decoder-only models: what they are, read, write and score."""

import warnings

import pytest
import torch
import transformers
from tiny_chat import CHATML, END, NO_SYSTEM, PAD, chat_tokenizer, tiny_llama
from tiny_decoders import CLASSES, build_decoder, build_prompts
from tokenizers import processors

from brido.models import LanguageModel
from brido.models import family as families
from brido.models.decoder_only import FAMILIES
from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.models.tokens import Sources
from brido.utils.errors import BridoError

DOCUMENTS = ["the cat sat in the cat", "the cat", "the cat sat " * 30]


def language(limit=64, chat=None, **keys):
    reading = ReadingSettings(max_source_tokens=limit, prompt="{{ document }}\n", **keys)
    return LanguageModel(tiny_llama(), chat_tokenizer(chat), reading)


@pytest.mark.parametrize("name", CLASSES)
def test_tiny_models_are_of_a_known_family(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert families.family_of(build_decoder(name, seed=0).config) in FAMILIES


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


def test_prompts_without_a_token_are_whole_numbers_too():
    tokenizer = chat_tokenizer(None)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A")
    reading = ReadingSettings(max_source_tokens=64, prompt="{{ document }}")
    sources = LanguageModel(tiny_llama(), tokenizer, reading).read(["", ""])
    assert sources.ids.shape == sources.mask.shape == (2, 0)
    assert sources.ids.dtype == sources.mask.dtype == torch.long


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


def test_the_share_of_a_document_that_is_not_read():
    parts = language(limit=24)
    short, long = parts.family.unread(parts, ["the cat", DOCUMENTS[2]])
    prompt = Prompt.of(parts.tokenizer, parts.reading)
    around, whole = len(prompt.ids("")), len(prompt.ids(DOCUMENTS[2]))
    assert short == 0.0
    assert long == (whole - 24) / (whole - around)
    assert 0.5 < long < 1.0


def test_what_stands_behind_the_end_is_not_of_the_text():
    """Some models name a word as the token that fills up, or an end that is not special."""
    own = language()
    words = own.tokenizer("the cat", add_special_tokens=False).input_ids
    pad, end = own.tokenizer.convert_tokens_to_ids(["!", "</think>"])
    own.model.generation_config.update(pad_token_id=pad, eos_token_id=[END, end])
    rows = [[*words, END, pad], [*words, end, pad], [*words, words[0], pad]]
    assert own.text(torch.tensor(rows)) == ["the cat", "the cat", "the catthe!"]


def test_a_text_that_is_cut_has_no_end():
    model = language(chat=NO_SYSTEM)
    sources = model.read(DOCUMENTS[:1])
    whole = model.write([["the cat sat"]], sources, limit=20)
    cut = model.write([["the cat sat"]], sources, limit=int(whole.lengths) - 1)
    assert whole.ids[0, 0, -1] == END
    assert torch.equal(cut.ids, whole.ids[:, :, :-1])
    assert model.write([["the cat sat"]], None, limit=20).lengths.equal(whole.lengths)


def test_what_was_saved_is_loaded_again(tmp_path):
    model = language()
    model.save(tmp_path / "model")
    again = LanguageModel.load(tmp_path / "model", model.reading)
    assert isinstance(again.model, transformers.LlamaForCausalLM)
    assert not again.model.training
    assert again.read(DOCUMENTS).ids.tolist() == model.read(DOCUMENTS).ids.tolist()
    assert again.family.special(again.model).ends == (END, 4)
    assert again.pad == END  # it has none of its own


def test_control_tokens_that_only_the_tokenizer_knows_cannot_be_spelled():
    """As Gemma 3 without images, whose tokenizer knows the token of an image."""
    tokenizer, model = chat_tokenizer(), tiny_llama()
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    tokenizer.pad_token = "<image>"
    own = LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=60))
    sources = own.read(["an <image>", "a longer text with an <image>"])
    assert int(sources.ids.max()) < len(tokenizer) - 1
    tokenizer.chat_template = "<image>" + CHATML
    with pytest.raises(BridoError, match="control token that the tokenizer knows and the model"):
        LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=60))


def test_more_tokens_than_the_model_has_positions_are_refused():
    model = build_decoder("llama", seed=3)
    ids, mask = build_prompts(5, documents=2, length=9, padded=True)
    family = families.family_of(model.config)
    family.steps(model, Sources(ids, mask), limit=56)
    with pytest.raises(BridoError, match=r"a prompt of 9 tokens and max_length \(57\)"):
        family.steps(model, Sources(ids, mask), limit=57)
