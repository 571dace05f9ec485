"""What a chat model writes around a summary, taken off before the summary votes.

Seventy of 153 language models open more than a tenth of their summaries with a preamble, and ROUGE
votes for what is shared. docs/configuration.md lists each rule below with an example. The rules
touch what stands around a text, never a word inside it, and they are few: a rule that is wrong for
one reference in a thousand has no place here (docs/log.md has counts). The words that preambles,
labels and refusals have are English.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from brido.text.control_tokens import without_end_tokens
from brido.text.thoughts import without_thoughts
from brido.utils.arguments import CLEANING_RULES as RULES
from brido.utils.arguments import CleaningRule as Rule
from brido.utils.rows import is_blank


class Cleaned(NamedTuple):
    """A text as it votes, the rules that changed it, and whether it refuses to answer."""

    text: str
    rules: tuple[Rule, ...]
    refused: bool

    @property
    def answers(self) -> bool:
        """Whether there is a summary to vote with: the text neither refuses nor is blank."""
        return not self.refused and not is_blank(self.text)


_TEXT = r"(?:text|article|document|dialogue|conversation|passage|paper|abstract|content|input)"
_CANNOT = (
    r"I(?:['’]m| am)? (?:can['’]?t|cannot|can not|unable to|not able to|won['’]t be able to|"
    r"don['’]t have (?:access|enough|the ability)|do not have (?:access|enough|the ability))"
)
# What a refusal speaks of: the text, the request, or you.
_ABOUT = (
    rf"(?:summar\w+|(?:the|this|that|your|any) (?:\w+ )?{_TEXT}s?\b|\brequests?\b"
    r"|(?:do|help|assist|comply|continue|engage|fulfil)(?: you)?(?: with| on)?"
    r"(?: (?:that|this|it|you)\b|\s*[.!])"
    r"|\byou (?:want|asked|provided|shared|gave|have|haven)\b)"
)
_GIVEN = r"(?:provided|given|attached|included|shared|supplied|pasted|sent)"
_REFUSAL = re.compile(
    rf"(?:(?:I(?:['’]m| am) (?:very |so )?sorry|Sorry|I apologi[sz]e|My apologies|Unfortunately)\b"
    rf"[^.!?\n]{{0,40}}?\b{_CANNOT}\b[^.!?\n]{{0,80}}?{_ABOUT}"
    rf"|{_CANNOT}\b[^.!?\n]{{0,80}}?{_ABOUT}"
    r"|As an? (?:AI|artificial intelligence|(?:large )?language model)\b[^.!?,\n]{0,30}, I\b"
    rf"|(?:Please|Could you(?: please)?|Can you(?: please)?) (?:provide|share|paste|send|give)\b"
    rf"[^.!?\n]{{0,30}}?\b(?:the|a|your|more|some) (?:full |actual |complete )?{_TEXT}\b"
    rf"(?:[^.!?\n]{{0,60}}?\b(?:you want|you would|you['’]d|I can|I could|to summari[sz]e)\b"
    r"|[.!?]?\s*\Z)"
    r"|(?:It|There) (?:seems|looks like|appears|is|was) (?:that |like |to be )?"
    r"(?:you (?:haven['’]t|have not|didn['’]t|did not) (?:provid|shar|includ|attach|giv|past|sen)"
    rf"|no (?:actual )?{_TEXT} (?:(?:was|is|has been) )?(?:{_GIVEN}|to summari[sz]e)"
    r"(?:[.!?,]| in (?:the|your) (?:prompt|message|input)|\s*\Z)))",
    re.IGNORECASE,
)

_KIND = (
    r"(?:summar(?:y|ies|i[sz]ation|i[sz]ed)|TL;?\s?DR|overview|synopsis|recap|gist|headline|"
    r"abstract|note|bullet points?|key points?|rewrit\w+|version)"
)
_SURE = r"(?:(?:Sure(?: thing)?|Certainly|Of course|Absolutely|Okay|OK|Alright|Got it)[!,.:]*\s+)"
_HERE = r"(?:Here(?:['’]s| is| are| you go)|Below (?:is|are)|The following (?:is|are)|This is)\b"
_PREAMBLE = re.compile(
    rf"\A{_SURE}?(?:{_HERE}[^:\n]{{0,80}}?\b{_KIND}\b[^:\n]{{0,120}}(?::|\.?\s*\n)"
    rf"|The {_TEXT} (?:can|could|may) be summari[sz]ed as(?: follows)?:"
    r"|(?:I(?:['’]ve| have) summari[sz]ed|To summari[sz]e) [^:\n]{0,80}:)\s*",
    re.IGNORECASE,
)
_SURELY = re.compile(r"\A(?:Sure|Certainly|Of course|Absolutely)!\s+", re.IGNORECASE)

_OF = rf"(?:\s+of\s+(?:the|this)\s+{_TEXT})?"
# With a colon behind it, or alone on the first line as a heading is.
_LABEL = re.compile(
    r"\A(?:(?:final|short|brief|concise|one[- ]sentence|my|the|article|news|executive)\s+){0,2}"
    rf"(?:summary{_OF}|TL;?\s?DR|synopsis|answer|output|response)[ \t]*(?::\s*|\n\s*(?=\S))",
    re.IGNORECASE,
)

_MARKDOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:\*[ \t]*){3,}$|^[ \t]*(?:-[ \t]*){3,}$", re.MULTILINE), ""),
    (re.compile(r"^(?:[ \t]*(?:[*•]|[-+](?=[ \t]+[A-Z]))[ \t]+)+", re.MULTILINE), ""),
    (re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*"), r"\1"),
    # At the start alone: further on these may be a footnote, a product, a name of a program.
    (re.compile(r"\A\s*__(?=\S)([^_\n]+?)(?<=\S)__(?!\w)"), r"\1"),
    (re.compile(r"\A\s*\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"\[([^\[\]\n]+)\]\(https?://[^)\s]{1,2000}\)"), r"\1"),
)

# A frame around a whole text, asked for or not.
_FRAMES = (
    re.compile(r"<(summary|tl;?dr|answer|output|response)>(?P<text>.*)</\1>", re.S | re.I),
    re.compile(r"\$*\\(?:boxed|text)\{(?P<text>.*)\}\$*", re.S),
)
_FRAME_KEYS = {"summary", "tldr", "answer", "output", "response", "text", "headline", "abstract"}

# Rules are applied at most so often: a text of thousands of nested labels is not worth more.
ROUNDS = 32

# A few words between quotation marks are a quotation.
_FEWEST_QUOTED = 5
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'", "‘": "’"}


def clean(text: str, rules: Sequence[Rule] = RULES) -> Cleaned:
    """Clean a text: apply the rules until none changes it, and make white space single.

    The work is linear in the length of the text, which a stranger may have written: no rule looks
    at a character more often than a fixed number of times, and there are at most ROUNDS rounds.

    A text that refuses keeps its words, because it does not vote. Of an unclosed block of thoughts
    nothing is left.
    """
    used: set[Rule] = set()

    def apply(rule: Rule, step: Callable[[str], str], text: str) -> str:
        after = step(text) if rule in rules else text
        if after != text and after.split() != text.split():
            used.add(rule)
        return after

    text = apply("think", lambda text: without_thoughts(text).text, text)
    refused = "refusal" in rules and bool(_REFUSAL.match(text.strip().lstrip("\"'“*_")))
    for _ in range(ROUNDS):
        before = text
        for rule, step in STEPS.items():
            text = apply(rule, step, text)
        if text == before:
            text = " ".join(text.split())
            if text == before:
                break
    if refused:
        used.add("refusal")
    return Cleaned(" ".join(text.split()), tuple(rule for rule in RULES if rule in used), refused)


def _without_frame(text: str) -> str:
    """The text inside the one frame around all of it: an object of JSON, a tag, a box."""
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        try:
            ((key, value),) = json.loads(text, strict=False).items()
        except (ValueError, RecursionError):
            return text
        return value if isinstance(value, str) and key.lower() in _FRAME_KEYS else text
    for frame in _FRAMES:
        # With its opening inside again it is not one frame.
        opening = text[: (text.find(">") if text.startswith("<") else text.find("{")) + 1]
        if (found := frame.fullmatch(text)) and opening not in found["text"]:
            return found["text"]
    return text


def _without_markdown(text: str) -> str:
    for pattern, kept in _MARKDOWN:
        text = pattern.sub(kept, text)
    return text


def _without_quotes(text: str) -> str:
    """Remove the one pair of quotation marks that holds the whole text."""
    text = text.strip()
    inside = text[1:-1]
    closing = _QUOTES.get(text[:1])
    if text[-1:] != closing or {text[0], closing} & set(inside):
        return text
    return inside if len(inside.split()) >= _FEWEST_QUOTED else text


# The rules that take something off again and again, in the order in which they do; `think` comes
# before them, and `refusal` takes nothing off.
STEPS: dict[Rule, Callable[[str], str]] = {
    "tokens": without_end_tokens,
    "frame": _without_frame,
    "markdown": _without_markdown,
    "preamble": lambda text: _SURELY.sub("", _PREAMBLE.sub("", text.lstrip())),
    "label": lambda text: _LABEL.sub("", text.lstrip()),
    "quotes": _without_quotes,
}
