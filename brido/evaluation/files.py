"""The commands that score a file of documents and summaries without a pipeline."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing, quoted
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object
from brido.utils.progress import say

_MOST_PROBLEMS = 20
_PATH = click.Path(path_type=Path)
# What all these commands take, beside the options of their models.
FILE_OPTIONS = (
    click.Argument(["documents"]),
    click.Option(["-o", "--output"], type=_PATH, help="The file to write, in place of stdout."),
    click.Option(["--device"], default="auto", help="auto, cpu, cuda, cuda:1 or mps."),
    click.Option(
        ["--batch-tokens"],
        type=click.IntRange(1),
        default=16384,
        help="Tokens of a forward pass, at most.",
    ),
    click.Option(
        ["--store"],
        type=_PATH,
        help="The file in which every answer is kept.",
        show_default="in BRIDO_WORK/answers or .brido/work/answers",
    ),
    click.Option(["--explain"], is_flag=True, help="Show on stderr what each score rests on."),
)


def read_documents(path: Path | str) -> list[dict[str, Any]]:
    """Return the JSON lines of a file (`-` is stdin) as rows with id, document and summary.

    A document or summary that is a list of sentences is joined with spaces. A line without `id`
    gets its number. Lines in the form of QAFactEval's released script (`document.text`, `claim`)
    are read as well.

    Raises:
        BridoError: the file cannot be read or is empty, or lines are wrong; all problems together.
    """
    with parsing(lambda reason: f"{path} cannot be read: {reason}"):
        is_stdin = str(path) == "-"
        text = sys.stdin.read() if is_stdin else Path(path).read_text(encoding="utf-8-sig")
    rows, problems = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_record(parse_object(line), number))
        except BridoError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        heading = f"{path} has lines that cannot be used:"
        raise BridoError.from_problems(heading, problems, _MOST_PROBLEMS)
    if not rows:
        raise BridoError(f"{path} is empty: give JSON lines with `document` and `summary`")
    return rows


def _record(raw: dict[str, Any], number: int) -> dict[str, Any]:
    if holds_half_pair(raw):
        raise BridoError(HALF_PAIR)
    document, summary = raw.get("document"), raw.get("summary", raw.get("claim"))
    if isinstance(document, dict):
        document = document.get("text")
    row = {"id": raw.get("id", str(number))}
    for key, value in (("document", document), ("summary", summary)):
        sentences = [value] if isinstance(value, str) else value
        if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
            raise BridoError(f"`{key}` must be text or a list of sentences, not {quoted(value)}")
        row[key] = " ".join(sentences)
    return row


def write_results(output: Path | None, rows: Sequence[dict], explained: Iterable[str] = ()) -> None:
    """Write a JSON line per row to the file, whole or not at all, or to stdout.

    `explained` holds a text per row for stderr, or none.
    """
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(output, text)
    for row, why in zip(rows, explained, strict=False):
        say(f"\n{row['id']}\n{why}")
