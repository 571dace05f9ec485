"""What models are asked about a document: its tokens for generate, train, decode.

A chat template is rendered once around a mark, never around a document, and what it rendered is
tokenized once, with the document in place. So a document is cut inside the template, and all of it
is text: a document that spells a control token does not end its turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from brido.models.chats import messages, pieces_of, rendered
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError, first_line

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Stands where a document or an answer will: a template that does something with it shows.
MARK = "\ue000Two words.\ue000"


def encoded(tokenizer: Any, texts: str | Sequence[str] | None, **how: Any) -> Any:
    """What a tokenizer makes of texts, without warnings about long ones.

    Raises:
        BridoError: the tokenizer fails. It is a program of the checkpoint, and its library panics,
            for example where a pattern goes back and forth too often.
    """
    try:
        return tokenizer(texts, verbose=False, **how)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, which has no name to import
            raise
        raise BridoError(
            f"the checkpoint's tokenizer fails on a text ({first_line(error)}): choose another "
            "model, or leave that text out"
        ) from None


@dataclass(frozen=True)
class PlainText:
    """A tokenizer for texts of which some ranges are a stranger's.

    special_only: added tokens that are not special, such as words of a field, are read as ever.
    """

    tokenizer: PreTrainedTokenizerBase
    special_only: bool = False

    @cached_property
    def _control(self) -> re.Pattern[str] | None:
        """Finds every token that stands for more than its spelling; runs of white space do not."""
        added = self.tokenizer.added_tokens_decoder.values()
        texts = [token.content for token in added if token.special or not self.special_only]
        control = [text for text in texts if len(text) > 1 and text.replace("▁", "").strip()]
        if not control:
            return None
        letters = re.escape("".join({token[0] for token in control}))
        tokens = "|".join(map(re.escape, sorted(control, key=len, reverse=True)))
        # Looked ahead, because tokens may overlap; the first letter alone is quick to look for.
        return re.compile(f"(?=[{letters}])(?=({tokens}))")

    def tokens(self, text: str, *inside: tuple[int, int]) -> tuple[list[int], list[int]]:
        """The tokens of a text in which no control token is read that touches a range `inside`, and
        where in the text each ends, if the tokenizer says so (`is_fast`)."""
        parts, fast = self._parts(text, inside), self.tokenizer.is_fast
        rows = encoded(self.tokenizer, parts, add_special_tokens=False, return_offsets_mapping=fast)
        starts = accumulate(map(len, parts), initial=0)
        ends = [
            start + end
            for start, row in zip(starts, rows.offset_mapping if fast else (), strict=False)
            for _, end in row
        ]
        return [token for row in rows.input_ids for token in row], ends

    def spaced(self, text: str) -> str:
        """The text with a space in every control token that it spells, for a tokenizer that puts
        tokens of its own around a text, whose vocabulary may have control tokens as words."""
        return " ".join(self._parts(text, [(0, len(text))]))

    def _parts(self, text: str, inside: Sequence[tuple[int, int]]) -> list[str]:
        """The text, cut behind the first letter of every control token that touches a range.

        That leaves none of them whole, and changes nothing where there is none.
        """
        spelled = self._control.finditer(text) if self._control else ()
        cuts = [
            found.start() + 1
            for found in spelled
            if any(low < found.end(1) and found.start() < high for low, high in inside)
        ]
        return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


@dataclass(frozen=True)
class Prompt:
    """How a decoder-only model is asked about a document.

    pieces: the rendered text before, between and behind the places of the document. first: tokens
    in front of the text, which a template writes itself. lead: what an answer begins with. behind:
    what the template writes behind an answer.
    """

    tokenizer: PreTrainedTokenizerBase
    pieces: tuple[str, ...]
    first: tuple[int, ...] = ()
    lead: str = ""
    behind: str = ""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings) -> Prompt:
        """Return the prompt that `reading` describes for the model of `tokenizer`.

        Raises:
            BridoError: there is no template and no prompt, or they cannot be rendered.
        """
        if tokenizer.chat_template is not None and reading.template is not None:
            return _chat(tokenizer, reading)
        if reading.prompt is None:
            raise BridoError(
                "reading.prompt: this model lacks a chat template, so it needs a prompt, such as "
                "'{{ document }}\\n\\nTL;DR: '"
            )
        if reading.system or reading.template:
            key = "system" if reading.system else "template"
            raise BridoError(
                f"reading.{key}: this model lacks a chat template, which this key needs: remove it"
            )
        *pieces, last = pieces_of(reading.prompt)
        # A space at the end belongs to the answer: tokenizers join it with the word behind it.
        asked = last.rstrip(" ")
        first = _first(tokenizer, (*pieces, asked)[0])
        return cls(tokenizer, (*pieces, asked), first, last.removeprefix(asked))

    def ids(self, document: str) -> list[int]:
        """Return the tokens of the prompt about a whole document."""
        return self.tokens(document)[0]

    def tokens(self, document: str) -> tuple[list[int], list[int]]:
        """Those tokens, and where in the prompt's text each ends (but for `first`)."""
        text, inside = self.pieces[0], []
        for piece in self.pieces[1:]:
            inside.append((len(text), len(text) + len(document)))
            text += document + piece
        ids, ends = self.plain_text.tokens(text, *inside)
        return [*self.first, *ids], ends

    def fit(self, document: str, limit: int) -> tuple[list[int], str]:
        """At most `limit` tokens, and the beginning of the document that they are about.

        Raises:
            BridoError: the prompt alone has no fewer tokens.
        """
        (ids, ends), kept, begin = self.tokens(document), document, len(self.pieces[0])
        if len(ids) <= limit:
            return ids, document
        self.check(limit)
        own = [end - begin for end in ends if begin < end <= begin + len(document)]
        while len(ids) > limit:
            # Once is enough, unless the text behind the document joins what is left otherwise.
            places = len(self.pieces) - 1
            own = own[: (limit - len(ids)) // places]
            kept = document[: own[-1] if own else 0].rstrip()
            ids = self.ids(kept)
        return ids, kept

    def fit_all(self, documents: Sequence[str], limit: int) -> tuple[list[list[int]], list[int]]:
        """At most `limit` tokens about every document, and the places of those that were cut."""
        fitted = [self.fit(document, limit) for document in documents]
        cut = [place for place, (_, kept) in enumerate(fitted) if kept != documents[place]]
        return [ids for ids, _ in fitted], cut

    def check(self, limit: int) -> None:
        """Raise BridoError if the prompt leaves no room, or documents cannot be cut inside it."""
        least = len(self.ids(""))
        if least >= limit:
            raise BridoError(
                f"reading: the prompt has {least} tokens before any document, and "
                f"max_source_tokens is {limit}: raise it, or shorten prompt and system"
            )
        if not self.tokenizer.is_fast and self._cuts_inside:
            raise BridoError(
                "reading.prompt: the tokenizer of this model does not say where its tokens stand, "
                "so a long document cannot be cut inside a prompt: choose another model"
            )

    # Whether text stands behind a document; whether only special tokens are control tokens.
    _cuts_inside, _special_only = True, False

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, without what ends it; what it spells is text."""
        text, before = self.lead + text, self.pieces[-1]
        # Alone, its first word would have the space that sentencepiece puts in front of any text.
        ids, _ = self.plain_text.tokens(before + text, (len(before), len(before + text)))
        asked = self._asked
        if ids[: len(asked)] != asked:
            return self.plain_text.tokens(text, (0, len(text)))[0]
        return ids[len(asked) :]

    def end(self, ends: tuple[int, ...]) -> int:
        """Which of a model's end tokens stands behind an answer: the one that its template writes.

        Models have several (one ends the turn, another the text). Without a template, or where it
        writes none of them, it is the tokenizer's own where that is one, else the first.
        """
        written = encoded(self.tokenizer, self.behind, add_special_tokens=False).input_ids
        own = self.tokenizer.eos_token_id
        return next((token for token in (*written, own) if token in ends), ends[0])

    @cached_property
    def _asked(self) -> list[int]:
        """The tokens of what stands behind the document."""
        return self.plain_text.tokens(self.pieces[-1])[0]

    @cached_property
    def plain_text(self) -> PlainText:
        """Reads what strangers wrote."""
        return PlainText(self.tokenizer, self._special_only)


def _first(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[int, ...]:
    """Return the token that begins every text of this tokenizer, unless the prompt spells it."""
    begin = tokenizer.bos_token_id
    writes_it = begin is not None and tokenizer("a").input_ids[:1] == [begin]
    return (begin,) if writes_it and not text.startswith(tokenizer.bos_token) else ()


def _chat(tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings) -> Prompt:
    """The prompt that the chat template makes."""
    turns = messages(reading, MARK)
    asked = rendered(tokenizer, reading, turns, True)
    pieces = tuple(asked.split(MARK))
    if len(pieces) != len(turns[-1]["content"].split(MARK)):
        raise BridoError("reading.prompt: the chat template does not write the whole document")
    if reading.system is not None and reading.system.strip() not in asked:
        raise BridoError(
            "reading.system: the chat template ignores a system message: put it into reading.prompt"
        )
    both = rendered(tokenizer, reading, [*turns, {"role": "assistant", "content": MARK}], False)
    before, _, behind = both.rpartition(MARK)
    # White space that it writes in front of an answer.
    lead = before.removeprefix(asked)
    return Prompt(tokenizer, pieces, lead="" if lead.strip() else lead, behind=behind)
