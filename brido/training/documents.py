"""Documents with their candidates in the order of the vote."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from brido.tables.join import CandidateDocument, SplitTables, read_documents
from brido.utils.errors import BridoError, some

COLUMNS = ("document", "reference", "candidates", "scores")
RankedDocument = CandidateDocument  # its candidates are those that can be elected, best first


class RankedDocuments(Sequence[RankedDocument]):
    """The documents that training can learn an order from; equal scores keep the search's order.

    Candidates that cannot be elected are left out: their score is NaN, because they did not end or
    their source may not be elected. A document with fewer than two distinct others has no order: it
    is left out, and `skipped` holds its id. `unlabelled` counts the documents without a reference.
    The texts stay in Arrow's buffers until they are asked for.
    """

    def __init__(self, table: pa.Table) -> None:
        """Take a table with COLUMNS and `id`, at least one row."""
        # Left in its chunks: a single one could not hold 2 GiB of text, which CNN/DM's has.
        self._table = table
        self.scores = np.array(table["scores"].to_pylist(), dtype=np.float64)
        eligible = np.isfinite(self.scores)
        distinct = [
            len({text for text, counts in zip(texts, row, strict=True) if counts})
            for texts, row in zip(_pylists(table["candidates"]), eligible, strict=True)
        ]
        self._rows = [row for row, count in enumerate(distinct) if count > 1]
        ids = table["id"].to_pylist()
        self.skipped = [ids[row] for row, count in enumerate(distinct) if count < 2]
        without = np.array(table["reference"].is_null().to_pylist(), dtype=bool)
        self.unlabelled = int(without[self._rows].sum())

    @property
    def num_candidates(self) -> int:
        """N, the most that a document can have."""
        return self.scores.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, count: int) -> list[RankedDocument]:
        """Return at most `count` documents, evenly spread over all, in order."""
        count = min(count, len(self))
        return [self[place * len(self) // count] for place in range(count)]

    def __getitem__(self, index: int) -> RankedDocument:  # type: ignore[override]
        row = self._rows[index]
        name, document, reference, texts = (
            self._table[column][row].as_py()
            for column in ("id", "document", "reference", "candidates")
        )
        scores = self.scores[row]
        order = np.argsort(-scores, kind="stable")[: np.isfinite(scores).sum()]  # NaN comes last
        ranked = [texts[place] for place in order]
        return RankedDocument(name, document, reference, ranked, scores[order].tolist())


def notes(
    documents: RankedDocuments, validation: RankedDocuments, cross_entropy: str
) -> Iterator[str]:
    """Sentences on documents without an order, and on those without a reference to be taught."""
    for split, ranked in (("train", documents), ("validation", validation)):
        if ranked.skipped:
            yield (
                f"{len(ranked.skipped):,} {split} documents are left out, because they have fewer "
                f"than two distinct candidates that can be elected: {some(ranked.skipped)}"
            )
    if documents.unlabelled and cross_entropy == "reference":
        yield (
            f"{documents.unlabelled:,} documents have no reference: the elected candidate takes "
            "its place"
        )


class SummaryPairs(list[RankedDocument]):
    """Documents with references and without candidates, for maximum likelihood."""

    num_candidates = 0
    unlabelled = 0

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """`pairs` are documents and references."""
        super().__init__(RankedDocument(str(n), *pair) for n, pair in enumerate(pairs))


def read_ranked(corpus: Path, candidates: Path, scores: Path) -> RankedDocuments:
    """Read the documents of one split, their candidates in the order of the vote.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    tables = SplitTables(pool=candidates, corpus=corpus, scores=scores)
    batches = [
        pa.table({"id": documents.ids, **documents.columns})
        for documents in read_documents(tables, COLUMNS)
    ]
    if not batches:
        raise BridoError(f"there are no candidates to train on: {candidates} has no rows")
    return RankedDocuments(pa.concat_tables(batches))


def _pylists(column: pa.ChunkedArray) -> Iterator[list[Any]]:
    for chunk in column.chunks:
        for start in range(0, len(chunk), 1024):
            yield from chunk.slice(start, 1024).to_pylist()
