"""Scored documents as rows of pairs, in JSON lines or Parquet."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from brido.tables.documents import CandidateDocument
from brido.utils.outputs import output_bytes, output_text

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]
Messages = list[dict[str, str]]
_BATCH = 4096


def rows_of(
    item: CandidateDocument,
    ranks: Iterable[tuple[int, int]],
    pieces: tuple[str, ...],
    conversation: Callable[[str], Messages] | None,
) -> Rows:
    """The rows of a document's pairs, each by the ranks of its better and its worse candidate.

    pieces: the prompt around its document, as in `brido.models.document_places.pieces_of`.
    conversation: makes the messages of a document; None writes texts.
    """
    prompt = item.document.join(pieces)
    rows = [_row(item, prompt, *pair) for pair in ranks]
    if conversation and rows:
        messages = conversation(item.document)
        for found in rows:
            found["prompt"] = messages
            for key in ("chosen", "rejected"):
                found[key] = [{"role": "assistant", "content": found[key].strip()}]
    return rows


def _row(item: CandidateDocument, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A pair as a row; ranks count from 1. The margin is the weight of ScPO (2411.04109)."""
    first, second = item.order[better], item.order[worse]
    return {
        "id": item.id,
        "prompt": prompt,
        "chosen": f" {item.candidates[first]}",
        "rejected": f" {item.candidates[second]}",
        "source_chosen": item.sources[first],
        "source_rejected": item.sources[second],
        "score_chosen": item.scores[first],
        "score_rejected": item.scores[second],
        "margin": item.scores[first] - item.scores[second],
        "rank_chosen": better + 1,
        "rank_rejected": worse + 1,
    }


def write_pairs(
    documents: Iterable[Rows],
    chat: bool,
    output: Path | None,
    advance: Callable[[], None],
    inputs: Sequence[str] = (),
) -> tuple[int, int, int]:
    """Write the rows of all documents to a file, whole or not at all, or to stdout.

    chat: the rows hold messages. inputs: the files that are read, onto which nothing is written.
    Returns how many rows there were, documents with a row, and documents without.
    """
    rows_written = with_rows = without = 0
    waiting: Rows = []
    with _writer(output, chat, inputs) as write:
        for rows in documents:
            rows_written += len(rows)
            with_rows += bool(rows)
            without += not rows
            waiting += rows
            # A reader of stdout gets each document's pairs at once.
            if len(waiting) >= _BATCH or output is None:
                write(waiting)
                waiting = []
            advance()
        write(waiting)
    return rows_written, with_rows, without


@contextmanager
def _writer(
    path: Path | None, chat: bool, inputs: Sequence[str]
) -> Iterator[Callable[[Rows], None]]:
    if path is None or path.suffix != ".parquet":
        with output_text(path, inputs) as text:
            yield lambda rows: _write_lines(text, rows)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(chat)
    with (
        output_bytes(path, inputs) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as table,
    ):
        yield lambda rows: table.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def _write_lines(text: TextIO, rows: Rows) -> None:
    text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text.flush()


def _schema(chat: bool) -> "pa.Schema":
    import pyarrow as pa

    text, number, rank = pa.string(), pa.float64(), pa.int32()
    said = pa.list_(pa.struct([("role", text), ("content", text)])) if chat else text
    return pa.schema(
        [
            ("id", text),
            *((name, said) for name in ("prompt", "chosen", "rejected")),
            *((name, text) for name in ("source_chosen", "source_rejected")),
            *((name, number) for name in ("score_chosen", "score_rejected", "margin")),
            *((name, rank) for name in ("rank_chosen", "rank_rejected")),
        ]
    )
