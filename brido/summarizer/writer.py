"""The worker that writes summaries: stage decode's generator, and what is known of each text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from brido.candidates.blocks import WINDOW, too_few
from brido.candidates.local import Generator, Written
from brido.checkers.mentions import text_mentions
from brido.checkers.wholeness import why_not_whole
from brido.search import SearchSettings
from brido.search.settings import GuidanceSettings
from brido.summarizer.checked import Checking, SummaryCheck
from brido.summarizer.election import elect
from brido.summarizer.summary import Summary
from brido.text.words import clean_lines
from brido.utils.errors import ArgumentError, BridoError
from brido.utils.rows import is_blank
from brido.work.worker import Result


@dataclass(frozen=True)
class Writing:
    """How summaries are written: the search of a summary, or of the candidates that elect it.

    guidance: by the other documents of the same chunk. elects: whether the search's results vote.
    lowercase: whether the model reads lower-case documents. checking: how summaries are checked;
    checks: whether they are, where a call does not say.
    """

    search: SearchSettings
    guidance: GuidanceSettings | None = None
    elects: bool = False
    lowercase: bool = False
    checking: Checking | None = None
    checks: bool = False

    def read(self, document: str) -> str:
        """The document as the corpus of the run has it."""
        cleaned = clean_lines(document)
        return cleaned.lower() if self.lowercase else cleaned


class Named(NamedTuple):
    """A document with its id."""

    id: str | float
    document: str


def chunks(
    documents: Iterable[Named], size: int, guidance: GuidanceSettings | None
) -> Iterator[list[Named]]:
    """Cut a stream into the units of stage decode, whose batches give the same bytes.

    They have `size` documents; guided ones WINDOW, and the last one also what is left.
    """
    waiting = iter(documents)
    if guidance is None:
        while chunk := list(islice(waiting, size)):
            yield chunk
        return
    held: list[Named] = []
    while chunk := list(islice(waiting, WINDOW)):
        if held and len(chunk) == WINDOW:
            yield held
            held = []
        held += chunk
    if held:
        yield held


class SummaryWriter(Generator):
    """Writes the summaries of chunks of documents; a worker (`brido.work.worker.MakeWorker`)."""

    _settings: Writing
    _check: SummaryCheck | None = None

    def __call__(self, chunk: Sequence[Named], checked: bool | None = None) -> Result:
        """Return a row for each document: its id and its `summary`, a Summary."""
        summaries = self.write(chunk, checked)
        return [
            {"id": named.id, "summary": summary}
            for named, summary in zip(chunk, summaries, strict=True)
        ], {}

    def write(self, chunk: Sequence[Named], checked: bool | None = None) -> list[Summary]:
        """The summaries of a chunk, in its order; checked: None is as the settings say.

        Raises:
            BridoError: there are too few different documents for the guidance, or the check's model
                cannot be loaded.
        """
        guidance = self._guidance
        # The same id may come twice: the second time its place tells it apart.
        names: dict[str, int] = {}
        for place, named in enumerate(chunk):
            if not is_blank(named.document):
                name = str(named.id)
                names[name if name not in names else f"{name}\0{len(names)}"] = place
        readable = list(names.values())
        texts = [self._settings.read(chunk[place].document) for place in readable]
        if guidance and texts and too_few(texts, guidance.others):
            raise BridoError(
                f"guidance needs {guidance.others} other documents with different texts for each "
                f"document, and here are {len(texts):,} documents in all: give more at once, or "
                "write without guidance (--no-guided)"
            )
        documents = dict(zip(names, texts, strict=True))
        result = self.generate(documents, self._settings.search, guidance=guidance)
        unread = dict.fromkeys(range(len(texts)), 0.0)
        if cut := [texts[place] for place in result.cut]:
            shares = self.language.family.unread(self.language, cut)
            unread |= zip(result.cut, shares, strict=True)
        summaries = [Summary("")] * len(chunk)
        checks = self._settings.checks if checked is None else checked
        best = self._checked(documents, result.written) if checks else self._best(result.written)
        for place, document, own, share in zip(readable, texts, best, unread.values(), strict=True):
            summaries[place] = replace(described(document, own), cut=share)
        return summaries

    def _own(self, written: Written) -> Summary:
        """What the search found; its score is a sum over tokens to the power length_penalty."""
        mean = None
        if not self._guidance:
            penalty = self._settings.search.length_penalty
            mean = written.scores[0] * written.tokens[0] ** (penalty - 1)
        return Summary(written.texts[0], written.ended[0], log_probability=mean)

    def _best(self, written: Sequence[Written]) -> Iterator[Summary]:
        """The text of each document, whether it ended, and its agreement if candidates voted."""
        if not self._settings.elects:
            yield from map(self._own, written)
            return
        votes = elect([each.texts for each in written], [each.ended for each in written])
        for each, (place, agreement) in zip(written, votes, strict=True):
            yield Summary(each.texts[place], each.ended[place], agreement=agreement)

    def _checked(self, documents: dict[str, str], written: Sequence[Written]) -> Iterator[Summary]:
        """The text of each document, whether it ended, and whether it passes."""
        if self._settings.checking is None or self._settings.elects:
            raise ArgumentError("checked: candidates that elect a summary are not checked")
        if self._check is None:
            self._check = SummaryCheck(self, self._settings.checking)
        for own, each in zip(written, self._check(documents, written), strict=True):
            summary = Summary(each.text, each.ended) if each.replaced else self._own(own)
            yield replace(summary, passes=each.passes)


def described(document: str, summary: Summary) -> Summary:
    """The summary with what its text says of itself: unsupported mentions, and a flaw."""
    mentions = text_mentions(document, summary.text, case_sensitive=True)
    unsupported = tuple(mention for mention in mentions if not mention.supported)
    flaw = why_not_whole(summary.text, None, None, document)
    return replace(summary, unsupported=unsupported, flaw=flaw)
