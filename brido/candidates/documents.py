"""The documents of one split, checked once and read part by part."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from brido.candidates.blocks import windows
from brido.models.settings import ReadingSettings
from brido.search.settings import GuidanceSettings, SamplingSettings, SearchSettings
from brido.tables import CORPUS
from brido.tables.read import Table, cut
from brido.utils.errors import BridoError, some
from brido.work.settings import RuntimeSettings
from brido.work.shards import code_key, fingerprint

# Bytes of a token, about, and of a document's hash.
_BYTES, _HASH = 4, 16
# More cut documents than this share are a warning,
MANY_CUT = 0.2
# and so are candidates of which fewer ended, or of which fewer of a document are distinct.
LEAST_ENDED, LEAST_DISTINCT = 0.8, 2.0


def cut_warning(cut: int, unread_thousandths: int, documents: int, limit: int) -> str | None:
    """What is said of a split where many documents are cut, None where few are.

    cut: how many are; unread_thousandths: thousandths of a document that were cut off, summed;
    limit: reading.max_source_tokens.
    """
    if not documents or cut <= MANY_CUT * documents:
        return None
    return (
        f"{cut_sentence(cut, unread_thousandths, documents, limit)}. Increase "
        "reading.default.max_source_tokens, if model and memory allow, or shorten the documents"
    )


def cut_sentence(cut: int, unread_thousandths: int, documents: int, limit: int) -> str:
    """How many of the documents are cut, and how much of them is read; as for `cut_warning`."""
    read = 100 * (1 - unread_thousandths / 1000 / documents)
    return (
        f"{cut:,} of {documents:,} documents are longer than {limit:,} tokens and cut there: on "
        f"average {read:.0f} % of a document is read"
    )


def vote_warning(
    source: str, documents: int, candidates: int, not_ended: int, distinct: float
) -> str | None:
    """What is said of a source whose candidates cannot support a vote, None of any other.

    The numbers are of all its documents together; distinct: texts that differ within a document.
    """
    causes = []
    if not_ended > (1 - LEAST_ENDED) * candidates:
        causes.append(
            f"only {1 - not_ended / candidates:.0%} ended (raise max_length, max_answer_tokens of "
            "a server, or train its checkpoint on more references)"
        )
    if candidates > documents and distinct < LEAST_DISTINCT * documents:
        causes.append(
            f"only {distinct / documents:.1f} of a document are distinct (raise diversity_penalty "
            "or temperature)"
        )
    if not causes:
        return None
    return f"the candidates of generation.{source} cannot support a vote: {'; '.join(causes)}"


@dataclass(frozen=True)
class DocumentPart:
    """A unit of work: some rows of a corpus table, read where they are needed."""

    path: Path
    rows: range

    def __len__(self) -> int:
        return len(self.rows)

    def read(self) -> list[tuple[str, str]]:
        """Read id and document of each row."""
        return list(_rows(self.path, self.rows))


def _rows(path: Path, rows: range | None) -> Iterator[tuple[str, str]]:
    for batch in Table(path, CORPUS, "download", ("document",)).batches(rows):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


class WritingWork(NamedTuple):
    """Tokens that a model reads and writes of a document, at most; whether others guide it."""

    read: int
    written: int
    guided: bool = False


def writing_work(
    settings: SearchSettings | SamplingSettings,
    reading: ReadingSettings,
    guidance: GuidanceSettings | None,
) -> WritingWork:
    """What a search or a sampler with these settings reads and writes of a document."""
    written = texts_at_once(settings) * settings.max_length
    return WritingWork(reading.max_source_tokens, written, guidance is not None)


def texts_at_once(settings: SearchSettings | SamplingSettings) -> int:
    """How many texts of a document are written side by side: beams, or samples."""
    if isinstance(settings, SearchSettings):
        return settings.num_beams
    return settings.num_return_sequences


class SplitDocuments:
    """The first `limit` documents of a corpus table (None: all), and their ids.

    Raises:
        BridoError: an id occurs twice.
    """

    def __init__(self, path: Path, limit: int | None) -> None:
        self.path = path
        self.ids: list[str] = []
        # Their lengths, from which shards are cut.
        self._bytes = array("Q")
        self._hashes = bytearray()
        for name, document in _rows(path, None if limit is None else range(limit)):
            self.ids.append(name)
            text = document.encode()
            self._bytes.append(len(text))
            digest = blake2b(f"{len(name)} {name}".encode(), digest_size=_HASH)
            digest.update(text)
            self._hashes += digest.digest()
        repeated = [name for name, times in Counter(self.ids).items() if times > 1]
        if repeated:
            raise BridoError(
                f"{path} cannot be used: {len(repeated)} ids occur more than once: {some(repeated)}"
            )

    def digest(self, part: DocumentPart) -> str:
        """A hash of a part's ids and documents."""
        rows = self._hashes[_HASH * part.rows.start : _HASH * part.rows.stop]
        return blake2b(rows, digest_size=_HASH).hexdigest()

    def parts(self, size: int) -> list[DocumentPart]:
        """Cut the documents into units of `size` rows."""
        return [DocumentPart(self.path, rows) for rows in cut(len(self.ids), size)]

    def units(self, runtime: RuntimeSettings, writing: WritingWork | None) -> list[DocumentPart]:
        """Cut the documents into shards by section `runtime`, guided ones into whole windows.

        writing: what a model writes of each document; None: no model does.
        """
        size, most = runtime.documents_of_shard, runtime.tokens_of_shard
        if writing is not None and writing.guided:
            return [DocumentPart(self.path, rows) for rows in windows(len(self.ids))]
        if writing is None or most is None:
            return self.parts(size)
        parts: list[range] = []
        tokens = 0
        for row, length in enumerate(self._bytes):
            work = min(length // _BYTES + 1, writing.read) + writing.written
            if parts and len(parts[-1]) < size and tokens + work <= most:
                parts[-1] = range(parts[-1].start, row + 1)
                tokens += work
            else:
                parts.append(range(row, row + 1))
                tokens = work
        return [DocumentPart(self.path, rows) for rows in parts]


def shard_keys(
    settings: Any,
    inputs: Iterable[Path],
    documents: Mapping[str, SplitDocuments],
    units: Mapping[str, Sequence[DocumentPart]],
) -> dict[str, list[str]]:
    """A key of each shard, by split: it changes with all that decides the shard's bytes.

    settings, inputs: what all shards depend on besides the code (see `fingerprint`).
    """
    shared = fingerprint([settings, code_key()], inputs)
    return {
        split: [fingerprint([shared, documents[split].digest(part)]) for part in parts]
        for split, parts in units.items()
    }
