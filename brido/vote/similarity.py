"""Similarity tables: each document's candidates and reference, compared by ROUGE.

`brido.rouge` knows texts and arrays only; this module adds tables and sentences.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from brido.rouge import similarity_batch, similarity_matrix
from brido.rouge.pairwise import Combination
from brido.tables import similarity_schema
from brido.tables.join import Part, SplitTables, read_documents
from brido.text.words import one_sentence_a_line, split_sentences
from brido.utils.errors import BridoError, quoted
from brido.vote.settings import OWN, SIMILARITIES, PairwiseSettings
from brido.work.worker import Advance, Result


def needs_sentences(settings: PairwiseSettings) -> bool:
    """Whether ROUGE-Lsum is computed, which needs one sentence a line."""
    return settings.combination == "mean_r1_r2_rlsum" and settings.implementation == "rouge_score"


class Comparer:
    """Computes the similarity rows of a part of the documents.

    Made from the split's tables, N, section `pairwise` and `scoring.unit`; then see
    `brido.work.worker.MakeWorker`.
    """

    def __init__(
        self,
        tables: SplitTables,
        size: int,
        settings: PairwiseSettings,
        unit: str,
        device: str,
        advance: Advance,
    ) -> None:
        self._tables, self._size = tables, size
        self._settings, self._sentences = settings, unit == "sentence"

    def __call__(self, part: Part) -> Result:
        """A row of the similarity table for each document."""
        columns = ["candidates", "reference"]
        documents = [one for batch in read_documents(self._tables, columns, part) for one in batch]
        similarity = self._compare(
            [list(one.candidates) for one in documents], [one.reference for one in documents]
        )
        schema = similarity_schema(self._size)
        flat = pa.array(similarity.reshape(-1))
        values = pa.FixedSizeListArray.from_arrays(flat, self._size * (self._size + 1))
        ids = pa.array([one.id for one in documents])
        return pa.record_batch([ids, values], names=schema.names), {}

    def _compare(self, candidates: list[list[str]], references: list[str | None]) -> np.ndarray:
        settings = self._settings
        missing = [reference is None for reference in references]
        texts = [reference or "" for reference in references]
        how = settings.model_dump(exclude={"combination"})
        if self._sentences:
            similarity = sentence_votes(candidates, texts, settings.combination, **how)
        elif settings.combination not in OWN:
            pairs = zip(candidates, texts, strict=True)
            similarity = np.stack([similarity_of(*pair, settings.combination) for pair in pairs])
        else:
            if needs_sentences(settings):
                lines = partial(one_sentence_a_line, any_script=settings.tokenizer == "unicode")
                candidates = [list(map(lines, row)) for row in candidates]
                texts = list(map(lines, texts))
            own = cast(Combination, settings.combination)
            similarity = similarity_batch(candidates, texts, own, **how)
        similarity[missing, :, -1] = np.nan
        return similarity


# The similarity of each pair of a prediction and its target.
Similarity = Callable[[list[str], list[str]], Sequence[float]]


@cache
def _brought(name: str) -> Similarity:
    return entry_points(group=SIMILARITIES)[name].load()


def similarity_of(
    texts: Sequence[str], reference: str, combination: str, **how: Any
) -> NDArray[np.float32]:
    """The matrix [N, N + 1] of `brido.rouge.similarity_matrix`, or by another package's similarity.

    Raises:
        BridoError: that similarity does not give a finite number for each pair.
    """
    if combination in OWN:
        return similarity_matrix(texts, reference, cast(Combination, combination), **how)
    compared = ~np.eye(len(texts), len(texts) + 1, dtype=bool)
    compared[:, -1] = bool(reference)
    rows, columns = np.nonzero(compared)
    every = [*texts, reference]
    found = _brought(combination)([every[row] for row in rows], [every[one] for one in columns])
    values = np.asarray(found, np.float64)
    if values.shape != rows.shape or not np.isfinite(values).all():
        raise BridoError(
            f"pairwise.combination: {combination} must give a finite number for each of "
            f"{len(rows):,} pairs of texts, not {quoted(found)}"
        )
    result = np.zeros(compared.shape, np.float32)
    result[compared] = values
    return result


def sentence_votes(
    candidates: Sequence[Sequence[str]],
    references: Sequence[str],
    combination: str,
    **how: Any,
) -> np.ndarray:
    """The similarity of texts computed from their sentences, float32 [D, N, N + 1].

    See `sentence_similarity`. Two sentences are compared as two texts are elsewhere (`how` goes to
    `similarity_of`).
    """
    result = []
    any_script = how.get("tokenizer") == "unicode"
    for texts, reference in zip(candidates, references, strict=True):
        split = [split_sentences(text, any_script) for text in (*texts, reference)]
        owners = np.array([n for n, own in enumerate(split) for _ in own], int)
        sentences = [sentence for own in split for sentence in own]
        values = np.zeros((len(sentences), len(sentences)))
        if sentences:
            values = similarity_of(sentences, "", combination, **how)[:, :-1].astype(float)
            # The matrix lacks its diagonal: no sentence is compared with its own text.
        size = len(texts)
        own = owners < size
        result.append(sentence_similarity(values[own], owners[own], owners, size))
    return np.array(result, np.float32)


def sentence_similarity(
    values: np.ndarray, rows: np.ndarray, columns: np.ndarray, size: int
) -> np.ndarray:
    """R of texts computed from R of their sentences, [size, size + 1].

    values [T, U]: R of sentence t (of candidate rows[t]) with sentence u (of candidate columns[u],
    or of the reference if columns[u] is `size`). The similarity of a text to another is the mean
    over its sentences of R with the most similar sentence of the other. With it, Eq. 2 votes on
    every sentence of a candidate (as Sample & Select, 2403.00696, votes on the sentences of several
    samples). 0 if either text has no sentence.
    """
    result = np.zeros((size, size + 1))
    for column in np.unique(columns):
        best = values[:, columns == column].max(1) if len(rows) else np.zeros(0)
        count = np.bincount(rows, minlength=size)
        total = np.bincount(rows, best.astype(np.float64), size)
        result[:, column] = np.divide(total, count, out=np.zeros(size), where=count > 0)
    return result
