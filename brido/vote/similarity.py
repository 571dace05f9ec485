"""Similarity tables: candidates and references of two tables, joined by id, compared by ROUGE.

It stands beside `brido.rouge`, which knows texts and arrays alone, no tables and no sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from brido.rouge import similarity_batch, similarity_matrix
from brido.tables import CORPUS, POOL, count_rows, read_batches, similarity_schema
from brido.utils.errors import BridoError, quoted
from brido.utils.text import Splitter, one_sentence_a_line, split_sentences
from brido.work.ranges import cut, read_range
from brido.work.worker import Advance, Result

if TYPE_CHECKING:
    from brido.vote.settings import PairwiseSettings


@dataclass(frozen=True)
class Pairing:
    """A unit of work: rows of the candidates table, and rows of the corpus with the same ids.

    The corpus' rows may hold further documents between them.
    """

    candidates: range
    corpus: range

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.candidates)


def pair_up(candidates: Path, corpus: Path, size: int) -> list[Pairing]:
    """Where the references of all candidates are, in units of `size` documents.

    Raises:
        BridoError: a row of the candidates table has an id that the corpus lacks, or that stands in
            another order there.
    """
    places = enumerate(_ids(corpus, CORPUS, "download"))
    ids = _ids(candidates, POOL, "pool")
    found = []
    for rows in cut(count_rows(candidates, "pool"), size):
        first = last = -1
        for _, name in zip(rows, ids, strict=False):
            last = next((place for place, other in places if other == name), None)
            if last is None:
                raise BridoError(
                    f"{candidates}: id {quoted(name)} is not in {corpus}, or stands in another "
                    "order there: both must come from the same run; `dvc repro pool`"
                )
            first = last if first < 0 else first
        found.append(Pairing(rows, range(first, last + 1)))
    return found


def _ids(path: Path, schema: pa.Schema, made_by: str) -> Iterator[str]:
    for batch in read_batches(path, schema, made_by, ["id"]):
        yield from batch.column(0).to_pylist()


def candidates_a_document(path: Path) -> int:
    """N of a candidates table, from its first row; BridoError where there is none."""
    for batch in read_batches(path, POOL, "pool", ["candidates"], rows=1):
        if size := len(batch.column(0)[0]):
            return size
        raise BridoError(f"{path}: row 0 has no candidates: make it again with pool")
    raise BridoError(f"{path} has no rows: there is nothing to compare; see pool")


def needs_sentences(settings: PairwiseSettings) -> bool:
    """Whether texts are split into sentences: Python's work, which threads cannot do at once."""
    return settings.combination == "mean_r1_r2_rlsum" and settings.implementation == "rouge_score"


class Comparer:
    """The similarities of a unit's documents.

    Made of the paths of candidates and corpus, N, section `pairwise`, the splitter of section
    `text`, and `scoring.unit`; then see `brido.work.running.MakeWorker`.
    """

    def __init__(
        self,
        candidates: Path,
        corpus: Path,
        size: int,
        settings: PairwiseSettings,
        splitter: Splitter,
        unit: str,
        device: str,
        advance: Advance,
    ) -> None:
        self._candidates, self._corpus, self._size = candidates, corpus, size
        self._settings, self._splitter, self._sentences = settings, splitter, unit == "sentence"

    def __call__(self, unit: Pairing) -> Result:
        """A row of the similarity table for each document; the unit's problems are all named."""
        rows = read_range(self._candidates, POOL, "pool", ["id", "candidates"], unit.candidates)
        self._check(rows, unit.candidates.start)
        columns = ["id", "summary"]
        references = dict(read_range(self._corpus, CORPUS, "download", columns, unit.corpus))
        ids = [name for name, _ in rows]
        similarity = self._compare([texts for _, texts in rows], [references[i] for i in ids])
        schema = similarity_schema(self._size)
        flat = pa.array(similarity.reshape(-1))
        values = pa.FixedSizeListArray.from_arrays(flat, self._size * (self._size + 1))
        return pa.record_batch([pa.array(ids), values], names=schema.names), {}

    def _check(self, rows: list[tuple[Any, ...]], first: int) -> None:
        problems = []
        for row, (name, texts) in enumerate(rows, first):
            if not texts:
                problems.append(f"row {row}, id {quoted(name)}: no candidates")
            elif len(texts) != self._size:
                problems.append(
                    f"row {row}, id {quoted(name)}: {len(texts)} candidates, row 0 has {self._size}"
                )
            elif None in texts:
                problems.append(
                    f"row {row}, id {quoted(name)}: candidate {texts.index(None)} is null"
                )
        if problems:
            heading = (
                f"{self._candidates} must have the same number of candidate texts in every row:"
            )
            raise BridoError.from_problems(heading, problems, limit=10)

    def _compare(self, candidates: list[list[str]], references: list[str | None]) -> np.ndarray:
        """The similarities; NaN with a reference that is not there."""
        settings = self._settings
        missing = [reference is None for reference in references]
        references = [reference or "" for reference in references]
        how = settings.model_dump(exclude={"combination"})
        if self._sentences:
            votes = sentence_votes(
                candidates, references, settings.combination, self._splitter, **how
            )
            votes[missing, :, -1] = np.nan
            return votes
        if needs_sentences(settings):
            candidates = [
                [one_sentence_a_line(text, self._splitter) for text in texts]
                for texts in candidates
            ]
            references = [one_sentence_a_line(text, self._splitter) for text in references]
        similarity = similarity_batch(candidates, references, settings.combination, **how)
        similarity[missing, :, -1] = np.nan
        return similarity


def sentence_votes(
    candidates: Sequence[Sequence[str]],
    references: Sequence[str],
    combination: str,
    splitter: Splitter = "abbreviations",
    **how: Any,
) -> np.ndarray:
    """The similarity of texts as their sentences vote, float32 [D, N, N + 1].

    See `sentence_similarity`; a pair of sentences is compared as texts are
    elsewhere (`how` goes to `brido.rouge.similarity_matrix`).
    """
    result = []
    for texts, reference in zip(candidates, references, strict=True):
        split = [split_sentences(text, splitter) for text in (*texts, reference)]
        owners = np.array([n for n, own in enumerate(split) for _ in own], int)
        sentences = [sentence for own in split for sentence in own]
        values = np.zeros((len(sentences), len(sentences)))
        if sentences:
            values = similarity_matrix(sentences, "", combination, **how)[:, :-1].astype(float)
            # The matrix leaves its diagonal out; a sentence of its own text is never asked.
        size = len(texts)
        own = owners < size
        result.append(sentence_similarity(values[own], owners[own], owners, size))
    return np.array(result, np.float32)


def sentence_similarity(
    values: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    size: int,
) -> np.ndarray:
    """R of texts from R of their sentences, [size, size + 1]: the vote of sentences.

    values [T, U]: R of sentence t (of candidate rows[t]) with sentence u (of candidate columns[u],
    or of the reference where columns[u] is `size`). A text agrees with another as much as its
    sentences do on average, each with the one of the other's that it agrees with best. Eq. 2 of
    these is a vote on every sentence of a candidate (as Sample & Select, 2403.00696, votes on the
    sentences of several samples). 0 where either text has no sentence.

    Raises:
        BridoError: shapes that do not fit, or an owner that there is not.
    """
    shape = (len(rows), len(columns))
    outside = [owner for owner in (*rows, *columns) if not 0 <= owner <= size] or size in rows
    if values.shape != shape or outside:
        raise BridoError(
            f"values must be {list(shape)} with owners from 0 to {size}, not {list(values.shape)}"
        )
    result = np.zeros((size, size + 1))
    for column in np.unique(columns):
        best = values[:, columns == column].max(1) if len(rows) else np.zeros(0)
        count = np.bincount(rows, minlength=size)
        total = np.bincount(rows, best.astype(np.float64), size)
        result[:, column] = np.divide(total, count, out=np.zeros(size), where=count > 0)
    return result
