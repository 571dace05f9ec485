"""Stage pairwise: R(x, y) of every pair of candidates and of every candidate with the reference."""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from brido.config import load_params
from brido.errors import BridoError, run_command
from brido.progress import Progress
from brido.rouge import similarity_batch
from brido.settings import PairwiseSettings, Params, TextSettings
from brido.tables import (
    CANDIDATES,
    CORPUS,
    count_rows,
    read_batches,
    similarity_schema,
    write_table,
)
from brido.text import one_sentence_a_line
from brido.work.shards import Shards, content_hash, fingerprint
from stages import paths

SPLITS = ("train", "validation")
SHARD_DOCUMENTS = 1024
NAMED_PROBLEMS = 10


@dataclass(frozen=True)
class Work:
    """The documents of one shard."""

    ids: list[str]
    candidates: list[list[str]]
    references: list[str]


def main() -> None:
    """Write data/similarity/{train,validation}.parquet."""
    params = load_params()
    for split in SPLITS:
        _compare(split, params)


def _compare(split: str, params: Params) -> None:
    source = paths.candidates(split)
    documents = count_rows(source, "generate")
    size = _candidates_of_first_row(source)
    schema = similarity_schema(size)
    settings = {"pairwise": params.pairwise, "text": params.text}
    shards = Shards(
        f"pairwise/{split}", fingerprint(settings, [source, paths.corpus(split)]), schema
    )
    _do_shards(split, params, shards, documents, size)
    metadata = {name: section.model_dump(mode="json") for name, section in settings.items()}
    count = -(-documents // SHARD_DOCUMENTS)
    write_table(
        paths.similarity(split),
        shards.read(count),
        schema,
        metadata
        | {"num_candidates": size, "documents": documents, "candidates": content_hash(source)},
    )
    shards.clear()


def _candidates_of_first_row(source: Path) -> int:
    for batch in read_batches(source, CANDIDATES, "generate", ["candidates"], rows=1):
        size = len(batch.column(0)[0])
        if not size:
            raise BridoError(f"{source}: row 0 has no candidates: make it again with generate")
        return size
    raise BridoError(f"{source} has no rows: there is nothing to compare; see generate")


def _do_shards(split: str, params: Params, shards: Shards, documents: int, size: int) -> None:
    """Finish every shard that is not done; a few are in work at a time, so memory is constant."""
    workers = params.runtime.threads or os.cpu_count() or 1
    todo = sum(not shards.done(i) for i in range(-(-documents // SHARD_DOCUMENTS)))
    waiting: deque[tuple[int, Work, Future]] = deque()
    with (
        Progress(f"pairwise {split}", documents, interval=params.runtime.log_seconds) as progress,
        _executor(params, min(workers, todo)) as executor,
    ):

        def finish_first() -> None:
            index, work, future = waiting.popleft()
            shards.write(index, _batch(work.ids, future.result(), shards.schema))
            progress.advance(len(work.ids))

        for index, work in enumerate(_works(split, size)):
            if shards.done(index):
                progress.skip(len(work.ids))
                continue
            future = executor.submit(_similarity, work, params.pairwise, params.text)
            waiting.append((index, work, future))
            if len(waiting) > workers:
                finish_first()
        while waiting:
            finish_first()


def _executor(params: Params, workers: int) -> Executor:
    """Threads where the compiled code does the work; processes where splitting sentences does."""
    if _needs_sentences(params.pairwise) and workers > 1:
        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    return ThreadPoolExecutor(max(workers, 1))


def _needs_sentences(settings: PairwiseSettings) -> bool:
    return settings.combination == "mean_r1_r2_rlsum" and settings.implementation == "rouge_score"


def _similarity(work: Work, settings: PairwiseSettings, text: TextSettings) -> np.ndarray:
    candidates, references = work.candidates, work.references
    if _needs_sentences(settings):
        splitter = text.sentence_splitter
        candidates = [[one_sentence_a_line(t, splitter) for t in texts] for texts in candidates]
        references = [one_sentence_a_line(reference, splitter) for reference in references]
    return similarity_batch(
        candidates,
        references,
        settings.combination,
        value=settings.value,
        implementation=settings.implementation,
        use_stemmer=settings.use_stemmer,
    )


def _batch(ids: list[str], similarity: np.ndarray, schema: pa.Schema) -> pa.RecordBatch:
    flat = pa.array(similarity.reshape(-1))
    values = pa.FixedSizeListArray.from_arrays(flat, similarity.shape[1] * similarity.shape[2])
    return pa.record_batch([pa.array(ids), values], names=schema.names)


def _works(split: str, size: int) -> Iterator[Work]:
    """The shards' documents; candidates and references meet by id, both in the corpus' order."""
    source = paths.candidates(split)
    references = _references(split)
    first = 0
    batches = read_batches(
        source, CANDIDATES, "generate", ["id", "candidates"], rows=SHARD_DOCUMENTS
    )
    for part in _rows_of(batches):
        _check(source, part, first, size)
        ids = [name for name, _ in part]
        yield Work(
            ids, [texts for _, texts in part], [_reference(references, i, split) for i in ids]
        )
        first += len(part)


def _rows_of(batches: Iterator[pa.RecordBatch]) -> Iterator[list[tuple[str, list[str]]]]:
    """Rows in parts of SHARD_DOCUMENTS, however the table is cut."""
    waiting: list[tuple[str, list[str]]] = []
    for batch in batches:
        waiting += zip(*(column.to_pylist() for column in batch.columns), strict=True)
        while len(waiting) >= SHARD_DOCUMENTS:
            yield waiting[:SHARD_DOCUMENTS]
            waiting = waiting[SHARD_DOCUMENTS:]
    if waiting:
        yield waiting


def _references(split: str) -> Iterator[tuple[str, str]]:
    for batch in read_batches(paths.corpus(split), CORPUS, "download", ["id", "summary"]):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _reference(references: Iterator[tuple[str, str]], name: str, split: str) -> str:
    for found, summary in references:
        if found == name:
            return summary
    raise BridoError(
        f"{paths.candidates(split)}: id {name!r} is not in {paths.corpus(split)}, or stands in "
        "another order there: both must come from the same run; `dvc repro generate`"
    )


def _check(source: Path, rows: list[tuple[str, Any]], first: int, size: int) -> None:
    problems = []
    for row, (name, texts) in enumerate(rows, first):
        if not texts:
            problems.append(f"row {row}, id {name!r}: no candidates")
        elif len(texts) != size:
            problems.append(f"row {row}, id {name!r}: {len(texts)} candidates, row 0 has {size}")
        elif None in texts:
            problems.append(f"row {row}, id {name!r}: candidate {texts.index(None)} is null")
    if len(problems) > NAMED_PROBLEMS:
        problems[NAMED_PROBLEMS:] = [f"and {len(problems) - NAMED_PROBLEMS} more"]
    if problems:
        heading = f"{source} must have the same number of candidate texts in every row:"
        raise BridoError.from_problems(heading, problems)


if __name__ == "__main__":
    run_command(main)
