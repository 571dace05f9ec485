"""The votes as training data for other trainers: `python -m brido.export preferences|ranking`.

preferences: prompt, chosen, rejected (and both scores), TRL's explicit-prompt preference format,
for DPO and its kin: per document the best against the worst candidate, or with `--pairs all` every
pair whose scores differ by more than `--min-gap`.
ranking: every such pair of a document's whole ranking with its `margin` (the difference of scores,
which TRL's RewardTrainer subtracts in its loss) and both ranks; `id` groups a document's pairs.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.atomic import atomic_file
from brido.errors import BridoError, run_command
from brido.progress import Progress, say
from brido.tables import CANDIDATES, CORPUS, SCORES, count_rows, read_batches

# The prompt ends without a space and each answer starts with one, as tokenizers of decoder-only
# models want it: the space belongs to the token of the first word.
PROMPT = "{document}\n\nTL;DR:"
PREFERENCES = pa.schema(
    [
        ("id", pa.string()),
        ("prompt", pa.string()),
        ("chosen", pa.string()),
        ("rejected", pa.string()),
        ("score_chosen", pa.float64()),
        ("score_rejected", pa.float64()),
    ]
)
RANKING = pa.schema(
    [
        ("id", pa.string()),
        ("prompt", pa.string()),
        ("chosen", pa.string()),
        ("rejected", pa.string()),
        ("margin", pa.float64()),
        ("rank_chosen", pa.int32()),
        ("rank_rejected", pa.int32()),
    ]
)
_BATCH = 4096


@dataclass(frozen=True)
class Voted:
    """A document with its candidates and their scores, order best first."""

    id: str
    document: str
    candidates: Sequence[str]
    scores: Sequence[float]
    order: Sequence[int]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m brido.export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=("preferences", "ranking"))
    parser.add_argument("--output", type=Path, nargs="+", metavar="FILE",
                        help="files that end in .parquet or .jsonl; without it, both kinds as "
                        "DATA/export/KIND-SPLIT")  # fmt: skip
    parser.add_argument("--split", choices=("train", "validation"), default="train")
    parser.add_argument("--pairs", choices=("best-worst", "all"), default="best-worst",
                        help="preferences only")  # fmt: skip
    parser.add_argument("--min-gap", type=float, default=0.0,
                        help="pairs must differ by more than this score")  # fmt: skip
    parser.add_argument("--prompt", default=PROMPT,
                        help="template with {document}; \\n is a new line")  # fmt: skip
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the tables")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs that the command line asks for."""
    options = _parser().parse_args(arguments)
    template = options.prompt.replace("\\n", "\n")
    stem = options.data / "export" / f"{options.kind}-{options.split}"
    outputs = options.output or [stem.with_suffix(".parquet"), stem.with_suffix(".jsonl")]
    _check(template, options.min_gap, outputs)
    everything = options.kind == "ranking" or options.pairs == "all"
    schema, row = (
        (RANKING, ranking_row) if options.kind == "ranking" else (PREFERENCES, preference_row)
    )
    count = count_rows(options.data / "candidates" / f"{options.split}.parquet", "generate")
    with Progress(f"export {options.kind}", count) as progress:
        written, without = write_pairs(
            read_votes(options.data, options.split),
            lambda item: _rows(item, everything, options.min_gap, template, row),
            schema,
            outputs,
            progress.advance,
        )
    say(f"export: {written:,} pairs of {count - without:,} documents to {_names(outputs)}")
    if without:
        say(f"export: {without:,} documents gave no pair: their candidates' scores or texts are "
            "too equal")  # fmt: skip


def _check(template: str, gap: float, outputs: Sequence[Path]) -> None:
    problems = []
    if "{document}" not in template:
        problems.append(f"--prompt must contain {{document}}, not {template!r}")
    if not gap >= 0:
        problems.append(f"--min-gap must be at least 0, not {gap}")
    problems += [
        f"--output {path} must end in .parquet or .jsonl"
        for path in outputs
        if path.suffix not in {".parquet", ".jsonl"}
    ]
    if problems:
        raise BridoError.from_problems("the export cannot start:", problems)


def _names(outputs: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in outputs)


def read_votes(data: Path, split: str) -> Iterator[Voted]:
    """The documents of a split that have candidates, with their votes; constant memory.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    name = f"{split}.parquet"
    corpus = _each(data / "corpus" / name, CORPUS, "download", ["id", "document"])
    candidates = _each(data / "candidates" / name, CANDIDATES, "generate", ["id", "candidates"])
    scores = _each(data / "scores" / name, SCORES, "score", None)
    for row, vote in zip(candidates, scores, strict=False):
        # Candidates are made for the first documents, some perhaps left out: walk on to theirs.
        document = next((item for item in corpus if item["id"] == row["id"]), None)
        if document is None or vote["id"] != row["id"]:
            raise BridoError(
                f"{data}: corpus, candidates and scores of {split} hold different documents from "
                f"{row['id']!r} on: `dvc repro score` makes them agree"
            )
        yield Voted(
            row["id"], document["document"], row["candidates"], vote["scores"], vote["order"]
        )


def _each(
    path: Path, schema: pa.Schema, made_by: str, columns: list[str] | None
) -> Iterator[dict[str, Any]]:
    for batch in read_batches(path, schema, made_by, columns):
        yield from batch.to_pylist()


def pairs(item: Voted, everything: bool, min_gap: float) -> Iterator[tuple[int, int]]:
    """(rank, rank) of the better and the worse candidate of each pair, 0 is the best.

    Only the best against the worst, or every pair; a pair counts where the scores differ by more
    than `min_gap` and the texts differ at all.
    """
    count = len(item.order)
    wanted = (
        ((better, worse) for better in range(count) for worse in range(better + 1, count))
        if everything
        else [(0, count - 1)]
    )
    for better, worse in wanted:
        first, second = item.order[better], item.order[worse]
        gap = item.scores[first] - item.scores[second]
        if gap > min_gap and item.candidates[first] != item.candidates[second]:
            yield better, worse


def preference_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of PREFERENCES."""
    first, second = item.order[better], item.order[worse]
    return {
        "id": item.id,
        "prompt": prompt,
        "chosen": f" {item.candidates[first]}",
        "rejected": f" {item.candidates[second]}",
        "score_chosen": item.scores[first],
        "score_rejected": item.scores[second],
    }


def ranking_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of RANKING; ranks count from 1."""
    row = preference_row(item, prompt, better, worse)
    margin = row.pop("score_chosen") - row.pop("score_rejected")
    return row | {"margin": margin, "rank_chosen": better + 1, "rank_rejected": worse + 1}


def _rows(
    item: Voted, everything: bool, min_gap: float, template: str, row: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    # str.format would trip over braces in the template or the document.
    prompt = template.replace("{document}", item.document)
    return [row(item, prompt, *ranks) for ranks in pairs(item, everything, min_gap)]


def write_pairs(
    votes: Iterator[Voted],
    rows_of: Callable[[Voted], list[dict[str, Any]]],
    schema: pa.Schema,
    outputs: Sequence[Path],
    advance: Callable[[], None],
) -> tuple[int, int]:
    """Write every row to all outputs at once, atomically: (rows, documents without a row)."""
    written = without = 0
    waiting: list[dict[str, Any]] = []
    with ExitStack() as stack:
        writers = [_writer(stack, path, schema) for path in outputs]
        for item in votes:
            rows = rows_of(item)
            written += len(rows)
            without += not rows
            waiting += rows
            if len(waiting) >= _BATCH:
                for write in writers:
                    write(waiting)
                waiting = []
            advance()
        for write in writers:
            write(waiting)
    return written, without


def _writer(
    stack: ExitStack, path: Path, schema: pa.Schema
) -> Callable[[list[dict[str, Any]]], None]:
    temporary = stack.enter_context(atomic_file(path))
    if path.suffix == ".parquet":
        table = stack.enter_context(pq.ParquetWriter(temporary, schema, compression="zstd"))
        return lambda rows: table.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    text = stack.enter_context(temporary.open("w", encoding="utf-8"))
    return lambda rows: text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    run_command(main)
