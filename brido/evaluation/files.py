"""Files of documents with their summaries, for the commands that score one without a pipeline."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing, quoted
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object

_MOST_PROBLEMS = 20


def read_documents(path: Path | str) -> list[dict[str, Any]]:
    """The JSON lines of a file (`-` is stdin) as rows with id, document and summary.

    document and summary are texts or lists of sentences. A line without `id` gets its number.
    Lines in the form of QAFactEval's released script (`document.text`, `claim`) are read as well.

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
    for key, value in (("document", document), ("summary", summary)):
        sentences = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not (isinstance(value, str) or sentences):
            raise BridoError(f"`{key}` must be text or a list of sentences, not {quoted(value)}")
    return {"id": raw.get("id", str(number)), "document": document, "summary": summary}


def write_lines(path: Path | None, rows: Iterable[Any]) -> None:
    """Write a JSON line per row to the file, whole or not at all; to stdout if `path` is None."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(path, text)
