"""Texts checked against their sources: what is supported, whole, copied, and how long.

A *checker* is one callable: it takes sources and the texts of each, and says how much of each text
its source supports. `make_checker` makes the one that section `support` of params.yaml names.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from brido.checkers.mentions import mentions_of, world_mentions
from brido.checkers.settings import DOUBT, MiniCheckSupport, SupportSettings
from brido.checkers.wholeness import copied_share, is_whole
from brido.text.words import word_count
from brido.work.folder import answers_file
from brido.work.settings import RuntimeSettings


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


def make_checker(settings: SupportSettings, runtime: RuntimeSettings, device: str) -> Checker:
    """The checker that section `support` names; BridoError if its model cannot be loaded."""
    if not isinstance(settings, MiniCheckSupport):
        return partial(by_mentions, case_sensitive=settings.case_sensitive)
    from brido.checkers.minicheck import MiniCheck

    how = (device, runtime.precision, runtime.batch_tokens, answers_file("minicheck"), "support")
    return partial(by_model, model=MiniCheck.load(settings.model, settings.revision, *how))


def by_mentions(
    sources: Sequence[SourceText], texts: Texts, case_sensitive: bool = True
) -> list[list[Checked]]:
    """The share of mentions that are supported; a text without any claims nothing: 1.

    `case_sensitive` is for documents without facts.
    """

    def check(source: SourceText, text: str) -> Checked:
        mentions = mentions_of(source.document, text, source.facts, case_sensitive)
        supported = sum(mention.supported for mention in mentions)
        return Checked(supported / len(mentions) if mentions else 1.0, len(mentions) - supported)

    return [
        [check(source, text) for text in own] for source, own in zip(sources, texts, strict=True)
    ]


def by_model(sources: Sequence[SourceText], texts: Texts, model: Any) -> list[list[Checked]]:
    """The mean probability of a text's sentences, 1 without any. model: a loaded MiniCheck.

    Sentences in doubt are unsupported, where the source has no facts.
    """

    def check(source: SourceText, text: str) -> Checked:
        values = [sentence.probability for sentence in next(found)]
        unsupported = sum(value < DOUBT for value in values)
        if source.facts is not None:
            mentions = world_mentions(text, source.facts)
            unsupported = sum(not mention.supported for mention in mentions)
        return Checked(sum(values) / len(values) if values else 1.0, unsupported)

    documents = [one.document for one, own in zip(sources, texts, strict=True) for _ in own]
    found = iter(model.sentences(documents, [text for own in texts for text in own]))
    return [
        [check(source, text) for text in own] for source, own in zip(sources, texts, strict=True)
    ]


def check_texts(
    sources: Sequence[SourceText], texts: Texts, checker: Checker
) -> list[dict[str, list[Any]]]:
    """The columns of the support table for each source: a value of each of its texts.

    support and unsupported are the checker's; words are counted; whole (true or false) and copied
    (0 to 1) are judged by `brido.checkers.wholeness`.

    Example:
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
