"""What a model thinks aloud before it answers, in the forms of the chat templates of today.

Candidates and a judge's answers go through the same function: thoughts neither vote nor mark.
"""

import re
from typing import NamedTuple


class Spoken(NamedTuple):
    """A text without its thoughts; `cut` says that the last thoughts have no end."""

    text: str
    cut: bool


_NAME = r"(?:[a-z]+[:_])?(?:think|thinking|thought|thoughts|reasoning)"
# How a block of thoughts begins and ends, in patterns: nearly all models (some with a prefix, as
# <seed:think> or <longcat_think>); Mistral; Gemma.
_BLOCKS = (
    (rf"<(?i:{_NAME})>", rf"</(?i:{_NAME})>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|channel>thought\b", r"<channel\|>"),
)
_WHOLE = [re.compile(rf"{begin}.*?(?:{end}|(?P<cut>\Z))", re.DOTALL) for begin, end in _BLOCKS]
# Some templates open the block in the prompt.
_CLOSED_ONLY = [re.compile(rf"\A.*{end}", re.DOTALL) for _, end in _BLOCKS]
# gpt-oss (the format is called harmony) names a channel before each message: the answer is in
# `final`. Servers without a parser for it leave its control tokens out.
_CHANNEL = "<|channel|>"
_FINAL = re.compile(
    r"<\|channel\|>\s*final\b(?:[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>)?"
)
_BEHIND = re.compile(r"<\|(?:end|return|call|start|channel)\|>.*", re.DOTALL)
# Without its control tokens, as our decoding leaves them out, too.
_BARE = re.compile(r"\A\s*(?:assistant)?analysis(?=[^\Wa-z_]|.*?assistant\n?final)", re.DOTALL)
_BARE_FINAL = re.compile(r"\A.*assistant\n?final(?:json\b)?", re.DOTALL)


def without_thoughts(text: str) -> Spoken:
    """Take thoughts off a text: whole blocks, what stands before a lone end, and what has no end.

    The work is linear in the length of the text. A text without thoughts comes back as it is.
    """
    cut = False
    for whole, closed_only in zip(_WHOLE, _CLOSED_ONLY, strict=True):
        cut = cut or any(match["cut"] is not None for match in whole.finditer(text))
        text = closed_only.sub("", whole.sub("", text))
    if _CHANNEL in text:
        *_, last = [None, *_FINAL.finditer(text)]
        return (
            Spoken("", True) if last is None else Spoken(_BEHIND.sub("", text[last.end() :]), cut)
        )
    if _BARE.match(text):
        final = _BARE_FINAL.match(text)
        return Spoken("", True) if final is None else Spoken(text[final.end() :], cut)
    return Spoken(text, cut)
