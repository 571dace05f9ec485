"""Rows of a user's JSONL or Parquet file."""

import json
from pathlib import Path
from typing import Any

from brido.errors import BridoError
from brido.tables import read_rows


def read_records(path: Path) -> list[dict[str, Any]]:
    """The rows of a `.parquet` file or a JSON-lines file (any other name), in order.

    Raises:
        BridoError: the file is missing or unreadable, or a line is no JSON object.
    """
    if path.suffix == ".parquet":
        return read_rows(path, None, "")
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise BridoError(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BridoError(f"{path} cannot be read as UTF-8 text ({type(error).__name__})") from None
    records, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            problems.append(f"line {number}: no JSON ({error})")
            continue
        if isinstance(value, dict):
            records.append(value)
        else:
            problems.append(f"line {number}: a JSON object is expected")
    if problems:
        more = [f"and {len(problems) - 10} more"] if len(problems) > 10 else []
        raise BridoError.from_problems(f"{path} cannot be used:", problems[:10] + more)
    return records
