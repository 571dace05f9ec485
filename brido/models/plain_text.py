"""Strangers' text, tokenized as text: a control token that it spells out is only letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def control_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """Every token that stands for more than its spelling; runs of white space do not."""
    added = (token.content for token in tokenizer.added_tokens_decoder.values())
    return tuple(text for text in added if len(text) > 1 and text.replace("▁", "").strip())


def tokens_of(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    inside: list[tuple[int, int]],
    control: tuple[str, ...],
) -> list[int]:
    """The tokens of a text in which no control token is read that touches a range of `inside`.

    Cutting the text behind the first letter of such a token leaves none of them whole, and changes
    nothing where there is none.
    """
    cuts = [start + 1 for start in _spelled(text, inside, control)]
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    rows = tokenizer(parts, add_special_tokens=False, verbose=False).input_ids
    return [token for ids in rows for token in ids]


def _spelled(text: str, inside: list[tuple[int, int]], control: tuple[str, ...]) -> Iterator[int]:
    """Where control tokens begin that touch one of the ranges, in rising order, each once."""
    if control:
        letters = re.escape("".join({token[0] for token in control}))
        longest_first = sorted(control, key=len, reverse=True)
        tokens = "|".join(map(re.escape, longest_first))
        # Looked ahead, because tokens may overlap; the first letter alone is quick to look for.
        for found in re.finditer(f"(?=[{letters}])(?=({tokens}))", text):
            if any(low < found.end(1) and found.start() < high for low, high in inside):
                yield found.start()
