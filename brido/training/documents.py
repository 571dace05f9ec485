"""Documents with their candidates in the order of the vote, joined from three tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from brido.tables import CORPUS, POOL, SCORES, read_columns, read_metadata
from brido.utils.errors import BridoError, quoted, some
from brido.work.shards import content_hash


class RankedDocument(NamedTuple):
    """A source, its reference if it has one, and the candidates that can be elected, best first."""

    id: str
    document: str
    reference: str | None
    candidates: list[str]
    scores: list[float]


class RankedDocuments(Sequence[RankedDocument]):
    """The documents that training can learn an order from.

    A candidate that cannot be elected (its score is NaN) is none here: it did not end, or its
    source may not be elected, and nobody should learn from it. A document with fewer than two
    distinct others has no order: it is left out, and its id is kept in `skipped`. `unlabelled`
    counts the documents without a reference. The texts stay in Arrow's buffers until they are
    asked for.
    """

    def __init__(self, corpus: pa.Table, candidates: pa.Table, scores: pa.Table) -> None:
        """Join the tables by id.

        corpus: id, document, summary; candidates: id, candidates, eligible; scores: id, scores,
        order. Rows of candidates and scores correspond; corpus may hold more documents, in any
        order.

        Raises:
            BridoError: ids, numbers of candidates or orders that do not belong together.
        """
        _check_same_documents(candidates, scores)
        where = {identifier: row for row, identifier in enumerate(corpus["id"].to_pylist())}
        ids = candidates["id"].to_pylist()
        _check_in_corpus(ids, where)
        # Left in their chunks: a single one could not hold 2 GiB of text, which CNN/DM's has.
        self._corpus, self._candidates = corpus, candidates
        self.scores, self.order = _checked_scores(candidates, scores)
        self._eligible = np.isfinite(self.scores)
        distinct = [
            len({text for text, counts in zip(texts, row, strict=True) if counts})
            for texts, row in zip(_pylists(candidates["candidates"]), self._eligible, strict=True)
        ]
        self._rows = [row for row, count in enumerate(distinct) if count > 1]
        self._corpus_rows = [where[ids[row]] for row in self._rows]
        self.skipped = [ids[row] for row, count in enumerate(distinct) if count < 2]
        without = np.array(corpus["summary"].is_null().to_pylist(), dtype=bool)
        self.unlabelled = int(without[self._corpus_rows].sum())

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
        row, corpus_row = self._rows[index], self._corpus_rows[index]
        texts = self._candidates["candidates"][row].as_py()
        order = [place for place in self.order[row] if self._eligible[row, place]]
        return RankedDocument(
            self._candidates["id"][row].as_py(),
            self._corpus["document"][corpus_row].as_py(),
            self._corpus["summary"][corpus_row].as_py(),
            [texts[place] for place in order],
            self.scores[row][order].tolist(),
        )


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
        BridoError: a table is missing or damaged, or the scores are of other candidates.
    """
    scored = read_metadata(scores, "score").get("candidates")
    if scored is not None and scored != content_hash(candidates):
        raise BridoError(
            f"{scores} are scores of other candidates than {candidates}: make both again "
            "(`dvc repro score`)"
        )
    return RankedDocuments(
        read_columns(corpus, CORPUS, "download", ["id", "document", "summary"]),
        read_columns(candidates, POOL, "pool", ["id", "candidates", "eligible"]),
        read_columns(scores, SCORES, "score", ["id", "scores", "order"]),
    )


def _pylists(column: pa.ChunkedArray):  # type: ignore[no-untyped-def]
    for chunk in column.chunks:
        for start in range(0, len(chunk), 1024):
            yield from chunk.slice(start, 1024).to_pylist()


def _check_same_documents(candidates: pa.Table, scores: pa.Table) -> None:
    left, right = candidates["id"].to_pylist(), scores["id"].to_pylist()
    if left == right:
        if not left:
            raise BridoError("there are no candidates to train on: the candidates table is empty")
        return
    problems = []
    for name, only in (
        ("candidates without scores", sorted(set(left) - set(right))),
        ("scores without candidates", sorted(set(right) - set(left))),
    ):
        if only:
            problems.append(f"{len(only)} documents have {name}: {some(only)}")
    if not problems:
        row = next(i for i, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1])
        problems.append(f"the rows have another order, first in row {row}")
    raise BridoError.from_problems(
        "scores and candidates do not belong together (make both again: `dvc repro score`):",
        problems,
    )


def _check_in_corpus(ids: list[str], where: dict[str, int]) -> None:
    missing = [identifier for identifier in ids if identifier not in where]
    if missing:
        raise BridoError(
            f"{len(missing)} documents have candidates but are not in the corpus: "
            f"{some(missing)}; make the candidates again (`dvc repro generate`)"
        )


def _checked_scores(candidates: pa.Table, scores: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """scores [documents, N] and order [documents, N]; BridoError where they do not fit."""
    ids = candidates["id"].to_pylist()
    counts = np.array([len(texts) for texts in _pylists(candidates["candidates"])])
    score_counts = np.array([len(row) for row in _pylists(scores["scores"])])
    order_counts = np.array([len(row) for row in _pylists(scores["order"])])
    wrong = (counts != score_counts) | (counts != order_counts) | (counts != counts[0])
    if wrong.any():
        row = int(wrong.argmax())
        raise BridoError(
            f"scores and candidates do not belong together: {int(wrong.sum())} documents, first "
            f"{quoted(ids[row])}, with {counts[row]} candidates, {score_counts[row]} scores and "
            f"{order_counts[row]} places in the order where {counts[0]} are expected; "
            "make both again (`dvc repro score`)"
        )
    values = np.array(scores["scores"].to_pylist(), dtype=np.float64)
    order = np.array(scores["order"].to_pylist(), dtype=np.int64)
    expected = np.argsort(-values, axis=1, kind="stable")
    eligible = np.array(candidates["eligible"].to_pylist(), dtype=bool)
    unsorted = (order != expected).any(1) | (np.isfinite(values) != eligible).any(1)
    if unsorted.any():
        row = int(unsorted.argmax())
        raise BridoError(
            f"the scores table is damaged: the order of {int(unsorted.sum())} documents, first "
            f"{quoted(ids[row])}, is not that of their scores; make it again (`dvc repro -f score`)"
        )
    return values, order
