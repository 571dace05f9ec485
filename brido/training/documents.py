"""Documents with their candidates in the order of the vote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from brido.tables.join import CandidateDocument, SplitTables, read_documents
from brido.utils.errors import BridoError, quoted, some

COLUMNS = ("document", "reference", "candidates", "eligible", "scores", "order")
RankedDocument = CandidateDocument  # its candidates are those that can be elected, best first


class RankedDocuments(Sequence[RankedDocument]):
    """The documents that training can learn an order from.

    Candidates that cannot be elected are left out: their score is NaN, because they did not end or
    their source may not be elected. A document with fewer than two distinct others has no order: it
    is left out, and `skipped` holds its id. `unlabelled` counts the documents without a reference.
    The texts stay in Arrow's buffers until they are asked for.
    """

    def __init__(self, table: pa.Table) -> None:
        """Take a table with COLUMNS and `id`.

        Raises:
            BridoError: there is no document, or an order is not that of the scores.
        """
        if not len(table):
            raise BridoError("there are no candidates to train on: the candidates table is empty")
        # Left in its chunks: a single one could not hold 2 GiB of text, which CNN/DM's has.
        self._table = table
        ids = table["id"].to_pylist()
        self.scores, self.order = _checked_scores(table)
        self._eligible = np.isfinite(self.scores)
        distinct = [
            len({text for text, counts in zip(texts, row, strict=True) if counts})
            for texts, row in zip(_pylists(table["candidates"]), self._eligible, strict=True)
        ]
        self._rows = [row for row, count in enumerate(distinct) if count > 1]
        self.skipped = [ids[row] for row, count in enumerate(distinct) if count < 2]
        without = np.array(table["reference"].is_null().to_pylist(), dtype=bool)
        self.unlabelled = int(without[self._rows].sum())

    def skipped_note(self, split: str) -> str:
        """What was left out, in words."""
        return (
            f"{len(self.skipped):,} {split} documents have fewer than two distinct candidates "
            f"that can be elected and are left out: {some(self.skipped)}"
        )

    @property
    def num_candidates(self) -> int:
        """N, the most that a document can have."""
        return self.scores.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, count: int) -> list[RankedDocument]:
        """At most `count` documents, evenly spread over all, in order."""
        count = min(count, len(self))
        return [self[place * len(self) // count] for place in range(count)]

    def __getitem__(self, index: int) -> RankedDocument:  # type: ignore[override]
        row = self._rows[index]
        name, document, reference, texts = (
            self._table[column][row].as_py()
            for column in ("id", "document", "reference", "candidates")
        )
        order = [place for place in self.order[row] if self._eligible[row, place]]
        return RankedDocument(
            name, document, reference, [texts[place] for place in order],
            self.scores[row][order].tolist(),
        )  # fmt: skip


class Pairs(Sequence[RankedDocument]):
    """Documents with references and without candidates, for maximum likelihood."""

    num_candidates = 0
    unlabelled = 0

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """`pairs` are documents and references."""
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: int) -> RankedDocument:  # type: ignore[override]
        document, reference = self._pairs[index]
        return RankedDocument(str(index), document, reference, [], [])


def read_ranked(corpus: Path, candidates: Path, scores: Path) -> RankedDocuments:
    """The documents of a split with their candidates in the order of the vote.

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


def _pylists(column: pa.ChunkedArray):
    for chunk in column.chunks:
        for start in range(0, len(chunk), 1024):
            yield from chunk.slice(start, 1024).to_pylist()


def _checked_scores(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """scores [documents, N] and order [documents, N]; BridoError if the order is not theirs."""
    values = np.array(table["scores"].to_pylist(), dtype=np.float64)
    order = np.array(table["order"].to_pylist(), dtype=np.int64)
    expected = np.argsort(-values, axis=1, kind="stable")
    eligible = np.array(table["eligible"].to_pylist(), dtype=bool)
    unsorted = (order != expected).any(1) | (np.isfinite(values) != eligible).any(1)
    if unsorted.any():
        row = int(unsorted.argmax())
        raise BridoError(
            f"the scores table is damaged: the order of {int(unsorted.sum())} documents, first "
            f"{quoted(table['id'][row].as_py())}, is not that of their scores; make it again "
            "(`dvc repro -f score`)"
        )
    return values, order
