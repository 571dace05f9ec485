"""Scored documents as rows of pairs, in JSON lines and Parquet: all files whole or none."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brido.tables.documents import CandidateDocument
from brido.utils.atomic import atomic_file
from brido.utils.files import output_text
from brido.vote.preferences import Rejected, pairs

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]
Kind = Literal["text", "number", "rank", "messages"]
Messages = list[dict[str, str]]
_BATCH = 4096
_TEXTS = ("id", "prompt", "chosen", "rejected", "source_chosen", "source_rejected")
_PAIR: dict[str, Kind] = dict.fromkeys(_TEXTS, "text")
_SCORES: dict[str, Kind] = dict.fromkeys(("score_chosen", "score_rejected", "weight"), "number")
PREFERENCES: dict[str, Kind] = {**_PAIR, **_SCORES}
RANKING: dict[str, Kind] = {
    **_PAIR, "margin": "number", "rank_chosen": "rank", "rank_rejected": "rank"
}  # fmt: skip


@dataclass
class Form:
    """Which pairs are written, and how a pair becomes a row.

    everything: every pair, not the best against the worst. conversation: makes the messages of a
    document; None writes texts. rejected, max_similarity: see `brido.vote.preferences.pairs`.
    left_out counts what is in no pair.
    """

    kind: str
    everything: bool
    min_gap: float
    template: str
    conversation: Callable[[str], Messages] | None = None
    rejected: Rejected = "worst"
    max_similarity: float = 1.0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def columns(self) -> dict[str, Kind]:
        """The columns of a row."""
        columns = RANKING if self.kind == "ranking" else PREFERENCES
        if self.conversation is None:
            return columns
        return columns | dict.fromkeys(("prompt", "chosen", "rejected"), "messages")

    def rows(self, item: CandidateDocument) -> list[dict[str, Any]]:
        """The rows of a document."""
        row = ranking_row if self.kind == "ranking" else preference_row
        prompt = filled(self.template, item.document)
        how = (self.rejected, self.max_similarity)
        ranks = pairs(item, self.everything, self.min_gap, self.left_out, *how)
        rows = [row(item, prompt, *pair) for pair in ranks]
        if self.conversation and rows:
            messages = self.conversation(item.document)
            for found in rows:
                found["prompt"] = messages
                for key in ("chosen", "rejected"):
                    found[key] = [{"role": "assistant", "content": found[key].strip()}]
        return rows


def preference_row(item: CandidateDocument, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of PREFERENCES; its weight is the margin of the vote (ScPO, 2411.04109)."""
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
        "weight": item.scores[first] - item.scores[second],
    }


def ranking_row(item: CandidateDocument, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of RANKING; ranks count from 1."""
    row = preference_row(item, prompt, better, worse)
    margin = row.pop("weight")
    del row["score_chosen"], row["score_rejected"]
    return row | {"margin": margin, "rank_chosen": better + 1, "rank_rejected": worse + 1}


def filled(template: str, document: str) -> str:
    """The template with the document in it."""
    # str.format would trip over braces in the template or the document.
    return template.replace("{document}", document)


def write_pairs(
    documents: Iterable[Rows],
    columns: Mapping[str, Kind],
    outputs: Sequence[Path],
    advance: Callable[[], None],
) -> tuple[int, int, int]:
    """Write the rows of all documents to all outputs at once, atomically; to stdout without any.

    Returns how many rows there were, documents with a row, and documents without.
    """
    rows_written = with_rows = without = 0
    waiting: Rows = []
    with ExitStack() as stack:
        writers = [_writer(stack, path, columns) for path in outputs] or [_print]
        for rows in documents:
            rows_written += len(rows)
            with_rows += bool(rows)
            without += not rows
            waiting += rows
            if len(waiting) >= _BATCH or not outputs:
                for write in writers:
                    write(waiting)
                waiting = []
            advance()
        for write in writers:
            write(waiting)
    return rows_written, with_rows, without


def _writer(stack: ExitStack, path: Path, columns: Mapping[str, Kind]) -> Callable[[Rows], object]:
    if path.suffix != ".parquet":
        text = stack.enter_context(output_text(path))
        return lambda rows: text.writelines(_lines(rows))
    import pyarrow as pa
    import pyarrow.parquet as pq

    temporary = stack.enter_context(atomic_file(path))
    schema = _schema(columns)
    table = stack.enter_context(pq.ParquetWriter(temporary, schema, compression="zstd"))
    return lambda rows: table.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def _schema(columns: Mapping[str, Kind]) -> "pa.Schema":
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    kinds = {
        "text": pa.string(),
        "number": pa.float64(),
        "rank": pa.int32(),
        "messages": pa.list_(message),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


def _print(rows: Rows) -> None:
    sys.stdout.writelines(_lines(rows))
    sys.stdout.flush()


def _lines(rows: Rows) -> list[str]:
    return [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
