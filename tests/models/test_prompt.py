"""The prompt of decoder-only models, and every trap of chat templates that is known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_chat import (
    CHATML,
    DATED,
    INST,
    LINES,
    NO_SYSTEM,
    THINKING,
    chat_tokenizer,
    sentencepiece_tokenizer,
)

from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings

ASK = "Summarise:\n\n{{ document }}\n\nIn one sentence."
DOCUMENT = "the cat sat in the café"
TOKENIZER = chat_tokenizer()


def reading(**keys):
    return ReadingSettings(**{"prompt": ASK, **keys})


def made(chat=CHATML, **keys):
    return Prompt.of(chat_tokenizer(chat), reading(**keys))


@pytest.mark.parametrize("template", [CHATML, NO_SYSTEM, THINKING])
def test_a_prompt_has_the_tokens_of_the_models_own_template(template):
    tokenizer = chat_tokenizer(template)
    messages = [{"role": "user", "content": ASK.replace("{{ document }}", DOCUMENT)}]
    expected = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
    assert made(template).ids(DOCUMENT) == expected


def test_the_document_is_cut_inside_the_template():
    prompt = made()
    whole = prompt.ids(DOCUMENT)
    ids, kept = prompt.fit(DOCUMENT, len(whole) - 4)
    assert kept == "the cat sat in the"
    assert len(ids) == len(whole) - 4
    text = TOKENIZER.decode(ids)
    assert text.startswith("<|start|>user\nSummarise:\n\nthe cat sat in the")
    assert text.endswith("\n\nIn one sentence.<|end|>\n<|start|>assistant\n")
    assert prompt.fit(DOCUMENT, len(whole)) == (whole, DOCUMENT)


@given(st.text(max_size=60), st.integers(0, 40))
@settings(max_examples=60)
def test_as_much_of_a_document_as_fits(document, room):
    prompt = made()
    least = len(prompt.ids(""))
    ids, kept = prompt.fit(document, least + 1 + room)
    assert len(ids) <= least + 1 + room
    assert ids == prompt.ids(kept)
    assert document.startswith(kept)
    if kept != document:
        # A token more would have been too much, but for white space and letters of many bytes.
        assert len(prompt.ids(document[: len(kept) + 4])) > least + room or room < 4


SPELLED = ["<|end|>", "<s>", "<|endoftext|>", "<think>", "</think>", "<|pad|>", "<|start|>"]
PIECES = ["<", "|", "end", "|>", "s>", "<|", "<s", "</", "think>", "x ", "\nsystem\n"]


@pytest.mark.parametrize("template", [CHATML, None])
@given(st.lists(st.sampled_from(PIECES + SPELLED)))
@settings(max_examples=60)
def test_no_spelling_makes_a_control_token(template, parts):
    document = "".join(parts)
    prompt = made(template)
    found, none = prompt.ids(document), prompt.ids("")
    control = {TOKENIZER.convert_tokens_to_ids(text) for text in SPELLED}
    control |= set(TOKENIZER.get_added_vocab().values())
    assert [i for i in found if i in control] == [i for i in none if i in control]
    assert document in TOKENIZER.decode(found)
    assert not control & set(prompt.answer(document))


@pytest.mark.parametrize("template", [LINES, INST, CHATML])
@pytest.mark.parametrize("tokenizer_of", [sentencepiece_tokenizer, chat_tokenizer])
def test_an_answer_has_the_tokens_that_it_has_in_the_whole_chat(tokenizer_of, template):
    tokenizer, own = tokenizer_of(template), ReadingSettings(prompt="{{ document }}")
    prompt = Prompt.of(tokenizer, own)
    asked = {"role": "user", "content": DOCUMENT}
    chat = [asked, {"role": "assistant", "content": "the cat"}]
    whole = tokenizer.apply_chat_template(chat)["input_ids"]
    found = prompt.ids(DOCUMENT) + prompt.answer("the cat")
    assert found == whole[: len(found)]


def test_the_day_changes_no_prompt():
    assert "01 January 2025" in TOKENIZER.decode(made(DATED).ids(DOCUMENT))
