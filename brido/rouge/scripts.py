"""Texts of every script as ASCII with the same tokens: the compiled code knows one kind of text."""

from collections.abc import Sequence
from itertools import chain

from brido.utils.text import words


def coded(texts: Sequence[str]) -> Sequence[str]:
    """Texts of ASCII whose tokens, as rouge_score sees them, are equal where those of `words` are.

    Words of a-z and 0-9 stay, to be stemmed; every other word becomes a name that no stemmer
    changes and no other word has. Newlines stay.
    """
    if all(text.isascii() for text in texts):
        return texts
    lines = [[words(line) for line in text.split("\n")] for text in texts]
    names = dict.fromkeys(chain.from_iterable(chain.from_iterable(lines)))
    plain = [word for word in names if word.isascii()]
    prefix = "0q"
    # A stem begins as its word does, so no stem becomes one of the names either.
    while any(word.startswith(prefix) for word in plain):
        prefix = f"0{prefix}"
    table = {word: f"{prefix}{number}" for number, word in enumerate(names)}
    table |= {word: word for word in plain}
    return ["\n".join(" ".join(map(table.__getitem__, line)) for line in text) for text in lines]
