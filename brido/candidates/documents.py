"""The documents of one split, checked once and read part by part."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from brido.candidates.blocks import windows
from brido.models.settings import ReadingSettings
from brido.search.settings import GuidanceSettings, SamplingSettings, SearchSettings
from brido.tables import CORPUS
from brido.tables.walk import Table, cut
from brido.utils.errors import BridoError, some
from brido.work.kept import code_key
from brido.work.settings import RuntimeSettings
from brido.work.shards import fingerprint

# Bytes of a token, about, and of a document's hash.
_BYTES, _HASH = 4, 16
# More cut documents than this share are a warning.
MANY_CUT = 0.2


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


@dataclass(frozen=True)
class WritingWork:
    """What a model reads and writes of a document.

    source: tokens that are read of it at most; texts: how many are written at once; length: tokens
    of each at most; guided: whether other documents guide it.
    """

    source: int
    texts: int
    length: int
    guided: bool = False

    @classmethod
    def of(
        cls,
        settings: SearchSettings | SamplingSettings,
        reading: ReadingSettings,
        guidance: GuidanceSettings | None,
    ) -> WritingWork:
        """What a search or a sampler with these settings writes."""
        if isinstance(settings, SearchSettings):
            texts = settings.num_beams
        else:
            texts = settings.num_return_sequences
        return cls(reading.max_source_tokens, texts, settings.max_length, guidance is not None)

    def tokens(self, size: int) -> int:
        """Tokens that are read, and may be written, of a document of so many bytes, about."""
        return min(size // _BYTES + 1, self.source) + self.texts * self.length


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
            work = writing.tokens(length)
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
