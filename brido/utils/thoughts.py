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
# <seed:think> or <longcat_think>); Mistral; Kimi; Cohere; models tuned on OpenThoughts; Gemma;
# MedGemma; Apertus.
_BLOCKS = (
    (rf"<(?i:{_NAME})>", rf"</(?i:{_NAME})>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|channel>thought\b", r"<channel\|>"),
    (r"<unused94>(?:thought\b)?", r"<unused95>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
)
_WHOLE = [re.compile(rf"{begin}.*?(?:{end}|(?P<cut>\Z))", re.DOTALL) for begin, end in _BLOCKS]
# Some templates open the block in the prompt.
_CLOSED_ONLY = [re.compile(rf"\A.*{end}", re.DOTALL) for _, end in _BLOCKS]
# What such models write around the answer itself.
_FRAMES = [
    re.compile(rf"\A\s*{begin}(.*?)(?:{end}\s*)?\Z", re.DOTALL)
    for begin, end in (
        (r"<\|START_RESPONSE\|>", r"<\|END_RESPONSE\|>"),
        (r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
        (r"<\|begin_of_box\|>", r"<\|end_of_box\|>"),
        (r"<(?i:answer|output|response)>", r"</(?i:answer|output|response)>"),
    )
]
# gpt-oss (the format is called harmony) names a channel before each message: the answer is in
# `final`. Servers without a parser for it leave its control tokens out.
_CHANNEL = "<|channel|>"
_FINAL = re.compile(
    r"<\|channel\|>\s*final\b(?:[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>)?"
)
_BEHIND = re.compile(r"<\|(?:end|return|call|start|channel)\|>.*", re.DOTALL)
# Without them, as our decoding leaves them out, too; and Granite, which names both parts in words.
_BARE = [
    (re.compile(begin, re.DOTALL), re.compile(answer, re.DOTALL))
    for begin, answer in (
        (
            r"\A\s*(?:assistant)?analysis(?=[^\Wa-z_]|.*?assistant\n?final)",
            r"\A.*assistant\n?final(?:json\b)?",
        ),
        (r"\A\s*(?i:Here is my thought process:)", r"\A.*?\b(?i:Here is my response:)"),
    )
]


def without_thoughts(text: str) -> Spoken:
    """Take thoughts off a text: whole blocks, what stands before a lone end, and what has no end.

    The work is linear in the length of the text. A text without thoughts comes back as it is.
    """
    before, cut = text, False
    for whole, closed_only in zip(_WHOLE, _CLOSED_ONLY, strict=True):
        text, ends = _substituted(whole, text)
        text, cut = closed_only.sub("", text), cut or ends
    text, ends = _final(text)
    if cut or ends or text != before:
        for frame in _FRAMES:
            text = frame.sub(r"\1", text)
    return Spoken(text, cut or ends)


def _substituted(pattern: re.Pattern[str], text: str) -> tuple[str, bool]:
    """The text without what the pattern matches, and whether a match had no end."""
    cut = any(match["cut"] is not None for match in pattern.finditer(text))
    return pattern.sub("", text), cut


def _final(text: str) -> tuple[str, bool]:
    """The answer of a text whose messages name their channel, and whether it is missing."""
    if _CHANNEL in text:
        *_, last = [None, *_FINAL.finditer(text)]
        return ("", True) if last is None else (_BEHIND.sub("", text[last.end() :]), False)
    for begins, answer in _BARE:
        if begins.match(text):
            spoken = answer.sub("", text)
            return ("", True) if spoken == text else (spoken, False)
    return text, False
