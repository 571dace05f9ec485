"""Strangers' text, tokenized as text: a control token that it spells out is only letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from brido.utils.errors import BridoError, first_line

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


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


class PlainText:
    """A tokenizer for texts of which some ranges are a stranger's.

    special_only: added tokens that are not special, such as words of a field, are read as ever.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, special_only: bool = False) -> None:
        self.tokenizer, self.special_only = tokenizer, special_only

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
