"""What a run leaves for others: `python -m brido.export preferences|ranking|model`.

The votes as training data for other trainers:

preferences: prompt, chosen, rejected (and both scores), TRL's explicit-prompt preference format,
for DPO and its kin: per document the best against the worst candidate, or with `--pairs all` every
pair whose scores differ by more than `--min-gap`. Empty candidates stand in no pair.
ranking: every such pair of a document's whole ranking with its `margin` (the difference of scores,
which TRL's RewardTrainer subtracts in its loss) and both ranks; `id` groups a document's pairs.
`--chat` writes either in TRL's conversational format for a chat model, asked as params.yaml says
(`reading` of base): the messages with the document already cut inside them, and the answers.

model: the tuned model with its card as README.md, a folder that can be pushed to a hub as it is:
`python -m brido.export model --output my/model`.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.atomic import atomic_file
from brido.errors import BridoError, quoted, run_command
from brido.pairs import Voted, pairs, read_votes
from brido.progress import Progress, say
from brido.tables import count_rows

# The prompt ends without a space and each answer starts with one, as tokenizers of decoder-only
# models want it: the space belongs to the token of the first word.
PROMPT = "{document}\n\nTL;DR:"
_TEXTS = ("id", "prompt", "chosen", "rejected", "source_chosen", "source_rejected")
_PAIR = [(name, pa.string()) for name in _TEXTS]
PREFERENCES = pa.schema([*_PAIR, ("score_chosen", pa.float64()), ("score_rejected", pa.float64())])
RANKING = pa.schema(
    [
        *_PAIR,
        ("margin", pa.float64()),
        ("rank_chosen", pa.int32()),
        ("rank_rejected", pa.int32()),
    ]
)
MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
_BATCH = 4096
CARD = Path("report/model_card.md")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m brido.export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=("preferences", "ranking", "model"))
    parser.add_argument("--output", type=Path, nargs="+", metavar="FILE",
                        help="files that end in .parquet or .jsonl; without it, both kinds as "
                        "DATA/export/KIND-SPLIT; of model one new folder")  # fmt: skip
    parser.add_argument("--split", choices=("train", "validation"), default="train")
    parser.add_argument("--pairs", choices=("best-worst", "all"), default="best-worst",
                        help="preferences only")  # fmt: skip
    parser.add_argument("--min-gap", type=float, default=0.0,
                        help="pairs must differ by more than this score")  # fmt: skip
    parser.add_argument("--prompt", default=PROMPT,
                        help="template with {document}; \\n is a new line")  # fmt: skip
    parser.add_argument("--chat", action="store_true", help="messages instead of texts")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the tables")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs that the command line asks for."""
    options = _parser().parse_args(arguments)
    if options.kind == "model":
        from brido.report.card import export_model

        outputs = options.output or [options.data / "export" / "model"]
        if len(outputs) > 1:
            raise BridoError(f"--output must be one new folder, not {_names(outputs)}")
        return export_model(options.data / "checkpoints" / "tuned", CARD, outputs[0])
    template = options.prompt.replace("\\n", "\n")
    stem = options.data / "export" / f"{options.kind}-{options.split}"
    outputs = options.output or [stem.with_suffix(".parquet"), stem.with_suffix(".jsonl")]
    _check(template, options.min_gap, outputs)
    conversation = _conversation(options.data) if options.chat else None
    everything = options.kind == "ranking" or options.pairs == "all"
    schema, row = (
        (RANKING, ranking_row) if options.kind == "ranking" else (PREFERENCES, preference_row)
    )
    if conversation:
        schema = conversational(schema)
    count = count_rows(options.data / "pool" / f"{options.split}.parquet", "pool")
    left_out: Counter[str] = Counter()
    with Progress(f"export {options.kind}", count) as progress:
        written, without = write_pairs(
            read_votes(options.data, options.split),
            lambda item: _rows(
                item, everything, options.min_gap, template, row, conversation, left_out
            ),
            schema,
            outputs,
            progress.advance,
        )
    say(f"export: {written:,} pairs of {count - without:,} documents to {_names(outputs)}")
    if without:
        say(f"export: {without:,} documents gave no pair: their candidates' scores or texts are "
            "too equal")  # fmt: skip
    for what, times in left_out.items():
        say(f"export: left out: {times:,} {what}")


def _check(template: str, gap: float, outputs: Sequence[Path]) -> None:
    problems = []
    if "{document}" not in template:
        problems.append(f"--prompt must contain {{document}}, not {quoted(template)}")
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


def preference_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of PREFERENCES."""
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
    }


def ranking_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of RANKING; ranks count from 1."""
    row = preference_row(item, prompt, better, worse)
    margin = row.pop("score_chosen") - row.pop("score_rejected")
    return row | {"margin": margin, "rank_chosen": better + 1, "rank_rejected": worse + 1}


def conversational(schema: pa.Schema) -> pa.Schema:
    """The schema with messages in the place of texts."""
    turns = {"prompt", "chosen", "rejected"}
    return pa.schema(
        [field.with_type(MESSAGES) if field.name in turns else field for field in schema]
    )


def _conversation(data: Path) -> Callable[[str], list[dict[str, str]]]:
    """What makes the messages that ask base about a document, cut as it reads it."""
    from brido.config import load_params
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt, messages

    reading = load_params().reading_of("base")
    tokenizer = load_tokenizer(data / "checkpoints" / "base")
    if tokenizer.chat_template is None or reading.template is None:
        raise BridoError("--chat: the base model has no chat template, so its rows are texts")
    prompt = Prompt.of(tokenizer, reading)
    limit = reading.max_source_tokens
    return lambda document: messages(reading, prompt.cut(document, limit))


def _rows(
    item: Voted,
    everything: bool,
    min_gap: float,
    template: str,
    row: Callable[..., dict[str, Any]],
    conversation: Callable[[str], list[dict[str, str]]] | None,
    left_out: Counter[str],
) -> list[dict[str, Any]]:
    # str.format would trip over braces in the template or the document.
    prompt = template.replace("{document}", item.document)
    rows = [row(item, prompt, *ranks) for ranks in pairs(item, everything, min_gap, left_out)]
    if conversation and rows:
        messages = conversation(item.document)
        for found in rows:
            found["prompt"] = messages
            for key in ("chosen", "rejected"):
                found[key] = [{"role": "assistant", "content": found[key].strip()}]
    return rows


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
