"""The prompt of a decoder-only model: one function makes its tokens for generate, train, decode.

The template is rendered once around a mark, never around a document, and what it rendered is
tokenized once, with the document in place. So a document is cut inside the template, and all
of it is text: a document that spells a control token does not end its turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from brido.models.document_places import MARKS, pieces_around, pieces_of, question
from brido.models.plain_text import control_tokens, tokens_of
from brido.models.rendering import render_chats
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError, first_line, parsing
from brido.utils.json_lines import holds_half_pair

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Prompt:
    """How one model is asked about a document.

    pieces: the rendered text before, between and behind the places of the document. first: tokens
    in front of the text, which a template writes itself. lead: what an answer begins with.
    """

    tokenizer: PreTrainedTokenizerBase
    pieces: tuple[str, ...]
    first: tuple[int, ...] = ()
    lead: str = ""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings) -> Prompt:
        """Return the prompt that `reading` describes for the model of `tokenizer`.

        Raises:
            BridoError: there is no template and no prompt, or they cannot be rendered.
        """
        if tokenizer.chat_template is None or reading.template is None:
            _check_plain(reading)
            pieces = pieces_of(reading)
            # A space at the end belongs to the answer: tokenizers join it with the word behind it.
            lead = " " * (len(pieces[-1]) - len(pieces[-1].rstrip(" ")))
            pieces = (*pieces[:-1], pieces[-1].rstrip(" "))
            return cls(tokenizer, pieces, _first(tokenizer, pieces[0]), lead)
        return cls(tokenizer, pieces_around(_chats(tokenizer, reading)))

    def ids(self, document: str) -> list[int]:
        """Return the tokens of the prompt about a whole document."""
        text, inside = self.pieces[0], []
        for piece in self.pieces[1:]:
            inside.append((len(text), len(text) + len(document)))
            text += document + piece
        return [*self.first, *tokens_of(self.tokenizer, text, inside, self._control)]

    def fit(self, document: str, limit: int) -> tuple[list[int], bool]:
        """At most `limit` tokens, the document cut at its end where need be, and whether it was.

        Raises:
            BridoError: the prompt alone has no fewer tokens.
        """
        ids = self.ids(document)
        if len(ids) <= limit:
            return ids, False
        return self.ids(self.cut(document, limit)), True

    def fit_all(self, documents: Sequence[str], limit: int) -> tuple[list[list[int]], list[int]]:
        """At most `limit` tokens about every document, and the places of those that were cut."""
        fitted = [self.fit(document, limit) for document in documents]
        cut = [place for place, (_, was_cut) in enumerate(fitted) if was_cut]
        return [ids for ids, _ in fitted], cut

    def cut(self, document: str, limit: int) -> str:
        """Return the beginning of a document with which the prompt has at most `limit` tokens.

        Raises:
            BridoError: see `fit`.
        """
        if len(self.ids(document)) <= limit:
            return document
        self.check(limit)
        kept, fits, longest = "", 0, len(document)
        while longest - fits > 1:
            middle = (fits + longest) // 2
            part = document[:middle].rstrip()
            if len(self.ids(part)) <= limit:
                kept, fits = part, middle
            else:
                longest = middle
        return kept

    def check(self, limit: int) -> None:
        """Raise BridoError if the prompt alone has no fewer than `limit` tokens."""
        least = len(self.ids(""))
        if least >= limit:
            raise BridoError(
                f"reading: the prompt has {least} tokens before any document, and "
                f"max_source_tokens is {limit}: raise it, or shorten prompt and system"
            )

    def answered(self, reading: ReadingSettings) -> Prompt:
        """Return the same prompt, its lead the white space that the chat template of `reading`
        writes in front of an answer."""
        if self.tokenizer.chat_template is None or reading.template is None:
            return self
        asked, (before, _) = "question".join(self.pieces), _around_answer(self.tokenizer, reading)
        between = before.removeprefix(asked)
        return self if between.strip() else replace(self, lead=between)

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, without what ends it; what it spells is text."""
        text = self.lead + text
        # Alone, its first word would have the space that sentencepiece puts in front of any text.
        ids, asked = self._tokens(self.pieces[-1], text), self._asked
        return ids[len(asked) :] if ids[: len(asked)] == asked else self._tokens("", text)

    def _tokens(self, before: str, text: str) -> list[int]:
        """Return the tokens of a piece of the prompt and of a text, which spells no control."""
        inside = (len(before), len(before) + len(text))
        return tokens_of(self.tokenizer, before + text, [inside], self._control)

    @cached_property
    def _asked(self) -> list[int]:
        """The tokens of what stands behind the document."""
        return self._tokens(self.pieces[-1], "")

    @cached_property
    def _control(self) -> tuple[str, ...]:
        return control_tokens(self.tokenizer)


def end_of_answer(
    tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings, ends: tuple[int, ...]
) -> int:
    """Which of a model's end tokens stands behind an answer: the one that its template writes.

    Models have several (one ends the turn, another the text). Without a template, or where it
    writes none of them, it is the tokenizer's own where that is one, else the first.
    """
    if tokenizer.chat_template is not None and reading.template is not None:
        _, behind = _around_answer(tokenizer, reading)
        for token in tokenizer(behind, add_special_tokens=False).input_ids:
            if token in ends:
                return token
    return tokenizer.eos_token_id if tokenizer.eos_token_id in ends else ends[0]


def _around_answer(tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings) -> tuple[str, str]:
    """What the chat template writes before and behind an answer about the document "question"."""
    turns = [*messages(reading, "question"), {"role": "assistant", "content": MARKS[0]}]
    (text,) = _rendered(tokenizer, reading, [turns], False)
    before, _, behind = text.rpartition(MARKS[0])
    return before, behind


def _check_plain(reading: ReadingSettings) -> None:
    """Raise BridoError for what a model without a chat template cannot do."""
    if reading.prompt is None:
        raise BridoError(
            "reading.prompt: this model lacks a chat template, so it needs a prompt, such as "
            "'{{ document }}\\n\\nTL;DR: '"
        )
    for key in ("system", "template"):
        if getattr(reading, key):
            raise BridoError(
                f"reading.{key}: this model lacks a chat template, which this key needs: remove it"
            )


def _first(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[int, ...]:
    """Return the token that begins every text of this tokenizer, unless the prompt spells it."""
    begin = tokenizer.bos_token_id
    writes_it = begin is not None and tokenizer("a").input_ids[:1] == [begin]
    return (begin,) if writes_it and not text.startswith(tokenizer.bos_token) else ()


def _chats(tokenizer: PreTrainedTokenizerBase, reading: ReadingSettings) -> list[str]:
    """What the chat template writes about each of MARKS."""
    with parsing(lambda reason: f"the chat template cannot be chosen ({reason})"):
        source = tokenizer.get_chat_template()
    for switch in reading.template or {}:
        if not re.search(rf"\b{re.escape(switch)}\b", source):
            raise BridoError(f"reading.template: the chat template has no switch {switch!r}")
    texts = _rendered(tokenizer, reading, [messages(reading, mark) for mark in MARKS], True)
    if reading.system is not None and reading.system.strip() not in texts[0]:
        raise BridoError(
            "reading.system: the chat template ignores a system message: put it into reading.prompt"
        )
    return texts


def _rendered(
    tokenizer: PreTrainedTokenizerBase,
    reading: ReadingSettings,
    chats: Sequence[list[dict[str, str]]],
    asks: bool,
) -> list[str]:
    """The template's text of each chat; `asks`: up to where the answer begins."""
    given = {
        "add_generation_prompt": asks,
        **tokenizer.special_tokens_map,
        **(reading.template or {}),
    }
    try:
        return render_chats(str(tokenizer.get_chat_template()), chats, given)
    except ValueError as error:
        key = "" if reading.system is None else "reading.system (put it into reading.prompt): "
        raise BridoError(
            f"{key}the chat template cannot be filled in ({first_line(error)})"
        ) from None


def messages(reading: ReadingSettings, document: str) -> list[dict[str, str]]:
    """Return the chat messages that ask about a whole document, for a server that has the template.

    Raises:
        BridoError: `reading.prompt` cannot be filled in.
    """
    system = [] if reading.system is None else [{"role": "system", "content": reading.system}]
    return [*system, {"role": "user", "content": question(reading, document)}]


def message_problems(reading: ReadingSettings, section: str) -> list[str]:
    """What keeps the messages of `section` from being sent about any document."""
    problems = [
        f"{section}.{key}: contains half of a surrogate pair, which cannot be sent"
        for key in ("prompt", "system")
        if holds_half_pair(getattr(reading, key))
    ]
    if reading.prompt is not None:
        try:
            pieces_of(reading)
        except BridoError as error:
            problems.append(str(error).replace("reading", section, 1))
    return problems
