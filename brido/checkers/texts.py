"""Texts checked against their sources: what is supported, whole, copied, and how long.

A *checker* is one callable: it takes sources and the texts of each, and says how much of each text
its source supports. `brido.checkers.registry` makes the one that params.yaml names.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from brido.checkers.wholeness import copied_share, is_whole
from brido.utils.text import word_count


class SourceText(NamedTuple):
    """What texts are checked against: None for what is not known.

    facts: those of the embedded world, as the corpus table has them.
    """

    document: str
    reference: str | None = None
    facts: list[dict[str, Any]] | None = None


class Checked(NamedTuple):
    """How much of a text its source supports (0 to 1), and how many things of it not.

    `unsupported` counts by the facts, which are exact, where the source has them.
    """

    support: float
    unsupported: int


Texts = Sequence[Sequence[str]]
Checker = Callable[[Sequence[SourceText], Texts], list[list[Checked]]]


def check_texts(
    sources: Sequence[SourceText], texts: Texts, checker: Checker
) -> list[dict[str, list[Any]]]:
    """The columns of the support table for each source: a value of each of its texts.

    support and unsupported are the checker's; words are counted; whole (true or false) and copied
    (0 to 1) are judged by `brido.checkers.wholeness`.

    Example:
        >>> from brido.checkers.registry import by_mentions
        >>> source = SourceText("A lorry hit a wall in Ashwick.")
        >>> check_texts([source], [["A lorry hit Colham."]], by_mentions)
        [{'support': [0.0], 'unsupported': [1], 'words': [4], 'whole': [True], 'copied': [0.5]}]
    """
    return [
        {
            "support": [text.support for text in checked],
            "unsupported": [text.unsupported for text in checked],
            "words": [word_count(text) for text in own],
            "whole": [
                is_whole(text, source.reference, source.facts, source.document) for text in own
            ],
            "copied": [copied_share(source.document, text) for text in own],
        }
        for source, own, checked in zip(sources, texts, checker(sources, texts), strict=True)
    ]
