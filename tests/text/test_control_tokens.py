"""Control tokens of chat models in strangers' texts: broken up for a server, all else stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.text.control_tokens import break_control_tokens

KNOWN = [
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>",
    "<|endoftext|>", "<|end|>", "<|channel|>", "<|START_OF_TURN_TOKEN|>", "</s>", "<s>", "<bos>",
    "<eos>", "<pad>", "<start_of_turn>", "<end_of_turn>", "<turn|>", "<|turn>", "[INST]", "[/INST]",
    "<<SYS>>", "<</SYS>>", "[TOOL_CALLS]", "[SYSTEM_PROMPT]", "[THINK]", "[/THINK]", "<think>",
    "</think>", "<tool_call>", "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "[|endofturn|]",
    "[gMASK]", "<sop>", "]~b]", "[e~[", "<extra_id_0>", "<unused12>", "<EOS_TOKEN>", "<eoh>",
]  # fmt: skip
TEXT = [
    "Ann met Bob.", "x < y | z > 3", "<b>bold</b> and <br> and <span>", "[1] and [a, b]", "a <- b",
    "|a|b|", "<a href='x'>", "I said: think!", "2 << 3 >> 1", "<>", "[]", "",
]  # fmt: skip


@pytest.mark.parametrize("token", KNOWN)
def test_a_known_token_gets_a_space_behind_its_first_character(token):
    assert break_control_tokens(f"A{token}b") == (f"A{token[0]} {token[1:]}b", 1)


@pytest.mark.parametrize("text", TEXT)
def test_other_texts_stay_as_they_are(text):
    assert break_control_tokens(text) == (text, 0)


@given(st.lists(st.sampled_from([*KNOWN, "<", ">", "|", "[", "]", "s", "/", " ", "a"]), max_size=9))
def test_nothing_is_left_and_only_spaces_are_added(parts):
    text = "".join(parts)
    broken, count = break_control_tokens(text)
    assert break_control_tokens(broken) == (broken, 0)
    assert broken.replace(" ", "") == text.replace(" ", "")
    assert len(broken) == len(text) + count
    assert not [token for token in KNOWN if token in broken]


def test_overlapping_tokens_are_all_broken():
    assert break_control_tokens("<|[|b|]>") == ("< |[ |b|]>", 2)
