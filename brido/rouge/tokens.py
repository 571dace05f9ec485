"""Texts to numbers: the words of each line, as rouge_score 0.1.2 tokenizes and stems them."""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brido.text.words import words as words_of_any_script

_WORD = set(b"abcdefghijklmnopqrstuvwxyz0123456789")
_OTHERS_TO_SPACES = bytes(code if code in _WORD else ord(" ") for code in range(256))
# NLTK looks at all letters before a y that follows another y, for each of them.
_MOST_Y = "y" * 100


class Tokens(NamedTuple):
    """Several texts as numbers: the words of lines, the lines of texts.

    A word's number is that of its stem, from 0 to types - 1. Each different line stands once: the
    candidates of one search share many.
    """

    words: NDArray[np.int32]  # [words of all different lines]
    bounds: NDArray[np.int64]  # [different lines + 1]: where a line begins in `words`
    lines: NDArray[np.int64]  # [lines of all texts]: the numbers of the texts' lines
    texts: NDArray[np.int64]  # [texts + 1]: where a text begins in `lines`
    types: int


def number_words(
    texts: Sequence[Sequence[str]], split: Callable[[str], list[str]], stem: Callable[[str], str]
) -> Tokens:
    """The Tokens of texts that are parted into lines; `split` gives the words of a line."""
    lines = [line for text in texts for line in text]
    different = {line: number for number, line in enumerate(dict.fromkeys(lines))}
    parts = [split(line) for line in different]
    words = [word for part in parts for word in part]
    stems: dict[str, int] = {}
    numbers = {word: stems.setdefault(stem(word), len(stems)) for word in dict.fromkeys(words)}
    return Tokens(
        np.fromiter(map(numbers.__getitem__, words), np.int32, len(words)),
        bounds_of([*map(len, parts)]),
        np.fromiter(map(different.__getitem__, lines), np.int64, len(lines)),
        bounds_of([*map(len, texts)]),
        len(stems),
    )


def as_lines(tokens: Tokens) -> Tokens:
    """The same texts, each as one line."""
    sizes = np.diff(tokens.bounds)[tokens.lines]
    begins = bounds_of(sizes)
    places = np.repeat(tokens.bounds[tokens.lines] - begins[:-1], sizes) + np.arange(begins[-1])
    texts = np.arange(len(tokens.texts))
    bounds = begins[tokens.texts]
    return Tokens(tokens.words[places], bounds, texts[:-1], texts, tokens.types)


def bounds_of(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where items of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def words_of(line: str) -> list[str]:
    """The words of a line before stemming: rouge_score's, letters and digits of ASCII."""
    # A regular expression takes three times as long.
    letters = line.lower().encode("ascii", "replace").translate(_OTHERS_TO_SPACES)
    return letters.decode("ascii").split()


def read(texts: Sequence[str], use_stemmer: bool, any_script: bool) -> Tokens:
    """The Tokens of texts, a line for each that newlines part.

    any_script: words of every script (`brido.text.words.words`), of which those of ASCII are
    stemmed; else rouge_score's.
    """
    return number_words(
        [text.split("\n") for text in texts],
        words_of_any_script if any_script else words_of,
        stem if use_stemmer else str,
    )


@functools.lru_cache(maxsize=2**17)
def stem(word: str) -> str:
    """NLTK's stem of a word as rouge_score takes it: words of three letters stay.

    Where rouge_score ends with a RecursionError, at some hundred y in a row, the word stays too.
    """
    if len(word) <= 3 or not word.isascii() or _MOST_Y in word:
        return word
    return _stemmer().stem(word)


@functools.cache
def _stemmer():
    # It takes a second to import.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
