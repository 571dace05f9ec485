"""The worker that writes summaries: stage decode's generator, and what is known of each text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from brido.candidates.blocks import WINDOW, too_few
from brido.candidates.local import Generator, Written
from brido.checkers.mentions import text_mentions
from brido.checkers.wholeness import why_not_whole
from brido.search import SearchSettings
from brido.search.settings import GuidanceSettings
from brido.summarizer.election import elect
from brido.summarizer.summary import Summary
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError
from brido.utils.text import clean
from brido.work.worker import Result


@dataclass(frozen=True)
class Writing:
    """How summaries are written: the search of a summary, or of the candidates that elect it.

    guidance: by the other documents of the same chunk. elects: whether the search's results vote.
    lowercase: whether the model reads lower-case documents.
    """

    search: SearchSettings
    guidance: GuidanceSettings | None = None
    elects: bool = False
    lowercase: bool = False

    def read(self, document: str) -> str:
        """The document as the corpus of the run has it."""
        cleaned = clean(document)
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

    def __call__(self, chunk: Sequence[Named]) -> Result:
        """Return a row for each document: its id and its `summary`, a Summary."""
        summaries = self.write(chunk)
        return [
            {"id": named.id, "summary": summary}
            for named, summary in zip(chunk, summaries, strict=True)
        ], {}

    def write(self, chunk: Sequence[Named]) -> list[Summary]:
        """The summaries of a chunk, in its order.

        Raises:
            BridoError: there are too few different documents for the guidance.
        """
        guidance = self._settings.guidance
        # The same id may come twice: here a document is known by its place.
        readable = [place for place, named in enumerate(chunk) if not is_blank(named.document)]
        names = _unique([str(chunk[place].id) for place in readable])
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
        elected = self._elected(result.written)
        made = zip(readable, texts, result.written, elected, unread.values(), strict=True)
        for place, document, written, (text, ended, agreement), share in made:
            mentions = text_mentions(document, text, case_sensitive=True)
            unsupported = tuple(mention for mention in mentions if not mention.supported)
            flaw = why_not_whole(text, None, None, document)
            mean = self._mean_log_probability(written)
            summaries[place] = Summary(text, ended, share, unsupported, agreement, flaw, mean)
        return summaries

    def _mean_log_probability(self, written: Written) -> float | None:
        """A beam's score is the sum over its tokens to the power length_penalty."""
        if self._settings.elects or self._settings.guidance:
            return None
        return written.scores[0] * written.tokens[0] ** (self._settings.search.length_penalty - 1)

    def _elected(self, written: Sequence[Written]) -> Iterator[tuple[str, bool, float | None]]:
        """The text of each document, whether it ended, and its agreement if candidates voted."""
        if not self._settings.elects:
            for each in written:
                yield each.texts[0], each.ended[0], None
            return
        votes = elect([each.texts for each in written], [each.ended for each in written])
        for each, (place, agreement) in zip(written, votes, strict=True):
            yield each.texts[place], each.ended[place], agreement


def _unique(names: Sequence[str]) -> list[str]:
    """The ids, with a number behind those that came before."""
    known: set[str] = set()
    unique = []
    for place, name in enumerate(names):
        own = name if name not in known else f"{name}\0{place}"
        known.add(own)
        unique.append(own)
    return unique
