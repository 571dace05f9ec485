"""From a source of rows to the corpus tables, in constant memory."""

import contextlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from brido import tables
from brido.corpus.checks import SPLITS, DocumentsSeen, SplitChecks
from brido.corpus.settings import DataSettings
from brido.corpus.source import Source
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say

# Splits that systems are decoded and evaluated on.
EVALUATED = ("validation", "test")


def write_corpus(source: Source, settings: DataSettings, folder: Path, interval: float) -> None:
    """Write a table of each split (SPLIT.parquet) and source.json into `folder`, all or nothing.

    source.json and every table's metadata say where the rows come from; source.json also says how
    many were left out. `interval` is the number of seconds between progress lines.

    Raises:
        BridoError: a split is empty or holds too many bad rows (all splits' problems together), or
            whatever the source raises.
    """
    with atomic_folder(folder) as temporary:
        problems, written = [], {}
        documents = DocumentsSeen()
        for split in SPLITS:
            checks = SplitChecks(split, settings.lowercase, settings.max_bad_fraction, documents)
            _write_split(source, checks, settings, temporary / f"{split}.parquet", interval)
            if problem := checks.problem():
                problems.append(problem)
            elif checks.bad:
                say(f"download {split}: left out {checks.bad.text()}")
            if checks.repeats:
                say(
                    f"download {split}: {checks.repeats:,} rows repeat the document of one before "
                    "them: their summaries are further references of that document"
                )
            if warning := documents.warning(split):
                say(f"download: warning: {warning}")
            left_out = {fault: len(places) for fault, places in checks.bad.faults.items()}
            written[split] = {"documents": checks.kept, "left_out": left_out}
        if problems:
            raise BridoError.from_problems("the corpus cannot be used:", problems)
        record = {**source.description, "splits": written}
        write_text(temporary / "source.json", json.dumps(record, indent=2, sort_keys=True) + "\n")


def _write_split(
    source: Source, checks: SplitChecks, settings: DataSettings, path: Path, interval: float
) -> None:
    limit = settings.limit(checks.split)
    metadata = {**source.description, "split": checks.split, "lowercase": settings.lowercase}
    with (
        Progress(f"download {checks.split}", limit, interval=interval) as progress,
        contextlib.closing(source.rows(checks.split)) as stream,
    ):
        rows = islice(checks.keep_good(stream), limit)

        def batches() -> Iterator[list[dict[str, Any]]]:
            """Lists of a row group's size, so that memory does not grow."""
            while batch := list(islice(rows, tables.ROWS_PER_GROUP)):
                yield batch
                progress.advance(len(batch))

        tables.write_table(path, batches(), source.schema, metadata)


def write_references(corpus: Path, folder: Path) -> None:
    """Write the references of `corpus` as if a system had made them: `folder`/SPLIT.parquet.

    The reference is evaluated like any system. Its score is 0: no model scored it. A document
    without one gets an empty text.
    """
    with atomic_folder(folder) as temporary:
        for split in EVALUATED:
            batches = tables.read_batches(
                corpus / f"{split}.parquet", tables.CORPUS, "download", ["id", "summary"]
            )
            scored = (
                [
                    {"id": row["id"], "summary": row["summary"] or "", "score": 0.0}
                    for row in batch.to_pylist()
                ]
                for batch in batches
            )
            metadata = {"system": "reference", "split": split}
            tables.write_table(temporary / f"{split}.parquet", scored, tables.DECODED, metadata)
