"""Summaries that a check passes: a document's own, or one of its candidates.

A summary passes if the checker finds nothing unsupported in it and it is whole by the rules that
need no reference. Only a document whose own summary fails gets candidates: of those that pass the
likeliest is its summary, or the one that the vote puts first. Where none passes its own one stays,
and is flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from brido.candidates.local import Generator, SummaryWorker, Written
from brido.candidates.probability import own_log_probabilities, written_limit
from brido.candidates.settings import LocalSource
from brido.checkers.texts import SourceText, check_texts, make_checker
from brido.summarizer.election import agreements
from brido.summarizer.settings import CheckedSettings


@dataclass(frozen=True)
class Checking:
    """How summaries are checked as they are written.

    source: how candidates are written. length_penalty: exponent of the length that log p of a
    candidate is divided by, as the search of the summary itself does.
    """

    settings: CheckedSettings
    source: LocalSource
    length_penalty: float


class CheckedText(NamedTuple):
    """A summary, its score, whether it ended, whether it passes, and whether it is a candidate.

    score: of a candidate log p over a power of its length, or its agreement with the others.
    """

    text: str
    score: float
    ended: bool
    passes: bool
    replaced: bool = False


class SummaryCheck:
    """A checker at work with a generator, whose model writes and scores the candidates."""

    def __init__(self, generator: Generator, checking: Checking) -> None:
        """Load the checker.

        Raises:
            BridoError: its model cannot be loaded.
        """
        self._generator, self._checking = generator, checking
        support = checking.settings.support
        self._checker = make_checker(support, generator.runtime, generator.device)

    def __call__(self, documents: dict[str, str], written: Sequence[Written]) -> list[CheckedText]:
        """The summary of each document.

        documents: texts by id. written: what the search for their own summaries found.
        """
        texts = list(documents.values())
        passing = self._passing(texts, [one.texts[:1] for one in written])
        found = [
            CheckedText(one.texts[0], one.scores[0], one.ended[0], passes)
            for one, (passes,) in zip(written, passing, strict=True)
        ]
        names = list(documents)
        failing = [place for place, one in enumerate(found) if not one.passes]
        better = self._candidates({names[place]: texts[place] for place in failing})
        for place, candidate in zip(failing, better, strict=True):
            found[place] = candidate or found[place]
        return found

    def _candidates(self, documents: dict[str, str]) -> list[CheckedText | None]:
        """The best candidate of each document that passes, None where none does."""
        if not documents:
            return []
        texts = list(documents.values())
        written = self._generator.candidates(documents, self._checking.source).written
        passing = self._passing(texts, [one.texts for one in written])
        found: list[CheckedText | None] = []
        for one, passes, scores in zip(written, passing, self._scores(texts, written), strict=True):
            # As in the pipeline one that did not end cannot be elected.
            places = [place for place in range(len(passes)) if passes[place] and one.ended[place]]
            # Of equal scores the first candidate's.
            best = max(places, key=scores.__getitem__, default=-1)
            good = CheckedText(one.texts[best], scores[best], True, True, replaced=True)
            found.append(good if places else None)
        return found

    def _passing(
        self, documents: Sequence[str], texts: Sequence[Sequence[str]]
    ) -> list[list[bool]]:
        """Which texts of each document pass."""
        sources = [SourceText(document) for document in documents]
        return [
            [
                whole and not count
                for whole, count in zip(row["whole"], row["unsupported"], strict=True)
            ]
            for row in check_texts(sources, texts, self._checker)
        ]

    def _scores(self, documents: Sequence[str], written: Sequence[Written]) -> list[list[float]]:
        """How good each candidate is, by `pick`."""
        texts = [one.texts for one in written]
        if self._checking.settings.pick == "vote":
            return agreements(texts, [one.ended for one in written]).tolist()
        language = self._generator.language
        limit = written_limit(language)
        found = own_log_probabilities(
            language.read(documents), texts, language, self._generator.budget, limit
        )
        penalty = self._checking.length_penalty
        return [(sums / tokens.to(sums) ** penalty).tolist() for sums, tokens in found]


class CheckedWorker(SummaryWorker):
    """Checked summaries; beside a `SummaryWorker`'s counts how many came of what."""

    def __init__(self, checking: Checking, *how: Any) -> None:
        """how: as for a `SummaryWorker`."""
        super().__init__(*how)
        self._check = SummaryCheck(self, checking)

    def best(
        self, documents: dict[str, str], written: Sequence[Written]
    ) -> tuple[list[tuple[str, float]], dict[str, int]]:
        """See `SummaryWorker`."""
        found = self._check(documents, written)
        return [(one.text, one.score) for one in found], {
            "replaced": sum(one.replaced for one in found),
            "flagged": sum(not one.passes for one in found),
        }
