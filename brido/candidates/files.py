"""Candidates that the user made elsewhere, for instance with several different models."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, some
from brido.utils.files import read_records
from brido.utils.ids import Ids, id_text
from brido.utils.json_lines import keys_of

Row = dict[str, Any]


def read_candidates(path: Path, ids: list[str], num_candidates: int, source: str) -> list[Row]:
    """Read the rows of a candidates table for `ids`, in their order.

    The file is JSON lines or Parquet, which have lists. It has the columns id and
    candidates (a list of exactly `num_candidates` texts), and may have ended (as many truth values;
    true otherwise). Further ids and columns are passed over.
    `source` is the name in `generation`.

    Raises:
        BridoError: the file is unreadable, an id is missing or twice there, or a row has another
            number of candidates or values of ended (all problems named).
    """
    rows, own = read_records(path), Ids()
    for number, row in enumerate(rows, start=1):
        if "id" not in row or "candidates" not in row:
            raise BridoError(
                f"{path}, row {number}: columns `id` (text or number) and `candidates` (list of "
                f"texts) are needed. {keys_of(row)}"
            )
        if fault := own.fault(row["id"]):
            raise BridoError(f"{path}, row {number}: {fault}: {some([str(row['id'])])}")
        row["id"] = id_text(row["id"])
    problems = list(_problems(rows, ids, num_candidates, source))
    if problems:
        raise BridoError.from_problems(f"{path} cannot be used as candidates:", problems)
    found = {row["id"]: row for row in rows}
    return [
        {
            "id": name,
            "candidates": found[name]["candidates"],
            "search_scores": [math.nan] * num_candidates,
            "ended": found[name].get("ended") or [True] * num_candidates,
        }
        for name in ids
    ]


def _problems(rows: list[Row], ids: list[str], size: int, source: str) -> Iterator[str]:
    known = dict.fromkeys(row["id"] for row in rows)
    missing, wanted = [name for name in ids if name not in known], set(ids)
    if missing:
        others = [name for name in known if name not in wanted]
        instead = f". The file has the ids {some(others)}" if others else ""
        yield f"{len(missing)} documents have no candidates: {some(missing)}{instead}"
    for column, kind, words in (("candidates", str, "texts"), ("ended", bool, "truth values")):
        wrong: dict[str, Any] = {}
        for row in rows:
            value = row.get(column)
            left_out = column == "ended" and value in (None, [])
            fits = isinstance(value, list) and [type(one) for one in value] == [kind] * size
            if row["id"] in wanted and not (fits or left_out):
                wrong[row["id"]] = value
        if wrong:
            first = next(iter(wrong.values()))
            is_other = isinstance(first, list) and len(first) != size
            has = f". The first has {len(first)}" if is_other else ""
            yield (
                f"{len(wrong)} rows: `{column}` must be a list of {size} {words} "
                f"(generation.{source}.num_candidates): {some(list(wrong))}{has}"
            )
