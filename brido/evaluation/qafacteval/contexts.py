"""The windows of a context, which window owns a piece, and the way back from pieces to text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import normalizers, pre_tokenizers

WINDOW_TOKENS = 384
STRIDE = 128
# [CLS] question [SEP] context [SEP]
SPECIAL_TOKENS = 3


@dataclass(frozen=True)
class Context:
    """A text cut into words and word pieces.

    `words[w]` are the word's character offsets (end exclusive); `pieces[p]` is a piece's text,
    `ids[p]` its id and `piece_words[p]` the word it belongs to.
    """

    text: str
    words: list[tuple[int, int]]
    pieces: list[str]
    ids: list[int]
    piece_words: list[int]

    def words_text(self, first: int, last: int) -> str:
        """Words `first` to `last` (inclusive) joined by single spaces."""
        return " ".join(self.text[start:end] for start, end in self.words[first : last + 1])


@dataclass(frozen=True)
class Window:
    """Context pieces `first` to `first + length - 1`, placed at position `offset` of the input."""

    first: int
    length: int
    offset: int


def windows(context_pieces: int, question_pieces: int) -> list[Window]:
    """The windows over a context: capacity 384 - question - 3 pieces, a start every 128 pieces.

    The last window is the first that reaches the context's end; an empty context has none.
    """
    capacity = WINDOW_TOKENS - question_pieces - SPECIAL_TOKENS
    offset = question_pieces + 2
    found: list[Window] = []
    first = 0
    while first < context_pieces:
        found.append(Window(first, min(capacity, context_pieces - first), offset))
        if first + capacity >= context_pieces:
            break
        first += STRIDE
    return found


def owning_windows(context_pieces: int, found: Sequence[Window]) -> np.ndarray:
    """For every piece the index of its maximum-context window [context_pieces].

    That is the window with the largest min(pieces to the left, pieces to the right) + 0.01 x
    window length; the first one wins ties.
    """
    best = np.full(context_pieces, -np.inf)
    owner = np.zeros(context_pieces, dtype=np.int64)
    for index, window in enumerate(found):
        pieces = np.arange(window.length)
        score = np.minimum(pieces, window.length - 1 - pieces) + 0.01 * window.length
        part = slice(window.first, window.first + window.length)
        better = score > best[part]
        best[part] = np.where(better, score, best[part])
        owner[part] = np.where(better, index, owner[part])
    return owner


# BERT's basic tokenizer: cleaned, lower-cased, accents off, CJK and punctuation split.
_NORMALIZER = normalizers.BertNormalizer(lowercase=True)
_SPLITTER = pre_tokenizers.BertPreTokenizer()


def basic_tokens(text: str) -> list[str]:
    """BERT's basic tokens of `text`: lower case, no accents, punctuation apart."""
    normalised = _NORMALIZER.normalize_str(text)
    return [token for token, _ in _SPLITTER.pre_tokenize_str(normalised)]


def join_pieces(pieces: list[str]) -> str:
    """Word pieces as text: continuation marks removed, spaces collapsed.

    A span that begins inside a word keeps the first piece's mark; it is then not found in the
    text, and the whole words are the answer.
    """
    return " ".join(" ".join(pieces).replace(" ##", "").split())


def original_text(found: str, original: str) -> str:
    """The part of `original` (whole words) that `found` (joined pieces) stands for.

    `found` is looked up in the basic tokens of `original`; its first and last character are then
    mapped back through both texts without their spaces. Where that fails, all of `original`.
    """
    tokens = " ".join(basic_tokens(original))
    start = tokens.find(found)
    if start < 0:
        return original
    end = start + len(found) - 1
    token_places = [index for index, letter in enumerate(tokens) if letter != " "]
    original_places = [index for index, letter in enumerate(original) if letter != " "]
    if len(token_places) != len(original_places):
        return original
    back = dict(zip(token_places, original_places, strict=True))
    if start not in back or end not in back:
        return original
    return original[back[start] : back[end] + 1]
