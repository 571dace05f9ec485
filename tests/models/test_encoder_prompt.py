"""What an encoder-decoder reads around a document: the user's prompt, or T5's own prefix."""

import pytest
from tiny_models import WORDS, tiny_bart, word_tokenizer

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings

DOCUMENT = " ".join(WORDS[:12])


def language(prompt, limit=64, **config):
    model = tiny_bart()
    for name, value in config.items():
        setattr(model.config, name, value)
    reading = ReadingSettings(prompt=prompt, max_source_tokens=limit)
    return LanguageModel(model, word_tokenizer(), reading)


def words(read, documents):
    sources = read.read(documents)
    return [
        read.tokenizer.decode(ids[mask.bool()])
        for ids, mask in zip(sources.ids, sources.mask, strict=True)
    ]


def test_the_prompt_stands_around_every_document_and_the_document_is_cut():
    read = language("w30 w31 {{ document }} w32", limit=10)
    long, short = words(read, [DOCUMENT, "w1 w2"])
    assert long == "<s> w30 w31 w0 w1 w2 w3 w4 w32 </s>"
    assert short == "<s> w30 w31 w1 w2 w32 </s>"
    assert read.read([DOCUMENT, "w1 w2"]).cut == (0,)


def test_the_models_own_prefix_stands_in_front_unless_a_prompt_is_given():
    own = {"task_specific_params": {"summarization": {"prefix": "w30 "}}}
    assert words(language(None, **own), ["w1"]) == ["<s> w30 w1 </s>"]
    assert words(language("{{ document }}", **own), ["w1"]) == ["<s> w1 </s>"]
    assert words(language("w31 {{ document }}", **own), ["w1"]) == ["<s> w31 w1 </s>"]
    # Strangers write anything; braces are text.
    other = {"task_specific_params": {"summarization": {"prefix": 5}}}
    assert words(language(None, **other), ["w1"]) == ["<s> w1 </s>"]
    braces = {"task_specific_params": {"summarization": {"prefix": "{{ w30 }} "}}}
    read = language(None, **braces)
    assert read.read(["w1"]).ids[0].tolist() == read.tokenizer("{{ w30 }} w1").input_ids


@pytest.mark.parametrize("prompt", [None, "{{ document }} w9"])
@pytest.mark.parametrize("limit", [8, 64])
def test_control_tokens_that_a_text_spells_are_letters(prompt, limit):
    """Of a vocabulary of words or of sentencepiece they are words too."""
    read = language(prompt, limit)
    spelled, unknown = "w1 </s> <pad> w2 w3 <s>", read.tokenizer.unk_token_id
    tail = [] if prompt is None else [13]
    whole = [0, 5, *[unknown] * 4, 6, 7, *[unknown] * 2, *tail, 2]
    cut = [*whole[: limit - len(tail) - 1], *tail, 2]
    assert read.read([spelled]).ids.tolist() == [whole if limit == 64 else cut]
    assert read.read([spelled, "w1"]).cut == (() if limit == 64 else (0,))
    (targets,) = read.write([[spelled]], None, 20).ids.tolist()
    assert targets == [[2, 0, 5, *[unknown] * 4, 6, 7, *[unknown] * 2, 2]]
