"""Similarity tables: candidates and references of two tables, joined by id, compared by ROUGE.

It stands beside `brido.rouge`, which knows texts and arrays alone, no tables and no sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from brido.errors import BridoError
from brido.rouge import similarity_batch
from brido.tables import CANDIDATES, CORPUS, count_rows, read_batches, similarity_schema
from brido.text import Splitter, one_sentence_a_line
from brido.work.ranges import cut, read_range
from brido.work.running import Advance, Result

if TYPE_CHECKING:
    from brido.settings import PairwiseSettings


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
    ids = _ids(candidates, CANDIDATES, "generate")
    found = []
    for rows in cut(count_rows(candidates, "generate"), size):
        first = last = -1
        for _, name in zip(rows, ids, strict=False):
            last = next((place for place, other in places if other == name), None)
            if last is None:
                raise BridoError(
                    f"{candidates}: id {name!r} is not in {corpus}, or stands in another order "
                    "there: both must come from the same run; `dvc repro generate`"
                )
            first = last if first < 0 else first
        found.append(Pairing(rows, range(first, last + 1)))
    return found


def _ids(path: Path, schema: pa.Schema, made_by: str) -> Iterator[str]:
    for batch in read_batches(path, schema, made_by, ["id"]):
        yield from batch.column(0).to_pylist()


def candidates_a_document(path: Path) -> int:
    """N of a candidates table, from its first row; BridoError where there is none."""
    for batch in read_batches(path, CANDIDATES, "generate", ["candidates"], rows=1):
        if size := len(batch.column(0)[0]):
            return size
        raise BridoError(f"{path}: row 0 has no candidates: make it again with generate")
    raise BridoError(f"{path} has no rows: there is nothing to compare; see generate")


def needs_sentences(settings: PairwiseSettings) -> bool:
    """Whether texts are split into sentences: Python's work, which threads cannot do at once."""
    return settings.combination == "mean_r1_r2_rlsum" and settings.implementation == "rouge_score"


class Comparer:
    """The similarities of a unit's documents.

    Made of the paths of candidates and corpus, N, sections `pairwise`, and the splitter of section
    `text`; then see `brido.work.running.MakeWorker`.
    """

    def __init__(
        self,
        candidates: Path,
        corpus: Path,
        size: int,
        settings: PairwiseSettings,
        splitter: Splitter,
        device: str,
        advance: Advance,
    ) -> None:
        self._candidates, self._corpus, self._size = candidates, corpus, size
        self._settings, self._splitter = settings, splitter

    def __call__(self, unit: Pairing) -> Result:
        """A row of the similarity table for each document; the unit's problems are all named."""
        rows = read_range(
            self._candidates, CANDIDATES, "generate", ["id", "candidates"], unit.candidates
        )
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
                problems.append(f"row {row}, id {name!r}: no candidates")
            elif len(texts) != self._size:
                problems.append(
                    f"row {row}, id {name!r}: {len(texts)} candidates, row 0 has {self._size}"
                )
            elif None in texts:
                problems.append(f"row {row}, id {name!r}: candidate {texts.index(None)} is null")
        if problems:
            heading = (
                f"{self._candidates} must have the same number of candidate texts in every row:"
            )
            raise BridoError.from_problems(heading, problems, limit=10)

    def _compare(self, candidates: list[list[str]], references: list[str]) -> np.ndarray:
        settings = self._settings
        if needs_sentences(settings):
            candidates = [
                [one_sentence_a_line(text, self._splitter) for text in texts]
                for texts in candidates
            ]
            references = [one_sentence_a_line(text, self._splitter) for text in references]
        return similarity_batch(
            candidates,
            references,
            settings.combination,
            value=settings.value,
            implementation=settings.implementation,
            use_stemmer=settings.use_stemmer,
        )
