"""Candidates that the user made elsewhere, for instance with several different models."""

import math
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, short, some
from brido.utils.files import read_rows
from brido.utils.ids import Ids, id_text
from brido.utils.json_lines import keys_of, kind
from brido.utils.left_out import LeftOut

Row = dict[str, Any]


def texts_problem(row: Row) -> str:
    """What is wrong with the texts of a row of candidates in a user's file, or ""."""
    if "candidates" not in row:
        return f"the key `candidates` is missing. {keys_of(row)}"
    candidates = row["candidates"]
    if not isinstance(candidates, list):
        return f"`candidates` is {kind(candidates)}, but must be a list of texts"
    for place, text in enumerate(candidates, 1):
        if not isinstance(text, str):
            return f"`candidates` must be texts: candidate {place} is {kind(text)}"
    return ""


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
    wrong, own, wanted = LeftOut(), Ids(), set(ids)
    found: dict[str, Row] = {}
    for row in read_rows(path):
        name = id_text(row.values.get("id")) or ""
        fault = row.problem or own.fault(row.values.get("id"))
        if not fault and name in wanted:
            fault = _problem(row.values, num_candidates, f"generation.{source}.num_candidates")
        if fault:
            wrong.note(fault, f"{short(name)} ({row.place})" if name else row.place)
        found[name] = row.values
    problems = [wrong.text()] if wrong else []
    if missing := [name for name in ids if name not in found]:
        problems.append(
            f"{len(missing)} documents have no candidates: {some(missing)}. The file has the ids "
            f"{some(list(found))}"
        )
    if problems:
        raise BridoError.from_problems(f"{path} cannot be used as candidates:", problems)
    return [
        {
            "id": name,
            "candidates": found[name]["candidates"],
            "search_scores": [math.nan] * num_candidates,
            "ended": found[name].get("ended") or [True] * num_candidates,
        }
        for name in ids
    ]


def _problem(row: Row, size: int, key: str) -> str:
    """What is wrong with a row that must have so many candidates, as `key` says, or ""."""
    if problem := texts_problem(row):
        return problem
    if len(row["candidates"]) != size:
        return f"`candidates` has {len(row['candidates'])} texts, not {size} ({key})"
    ended = row.get("ended")
    fits = isinstance(ended, list) and [type(one) for one in ended] in ([], [bool] * size)
    return "" if ended is None or fits else f"`ended` must be a list of {size} truth values"
