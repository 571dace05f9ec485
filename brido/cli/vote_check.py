"""What a vote knows of anybody's candidates: `brido vote-check candidates.jsonl`.

Each line is a JSON object with the same number of `candidates` (at least two texts) and either the
`document`, in which their names and numbers are looked up, or `unsupported`, a number for each
candidate that says how much of it is not supported (people's marks, say). Where they are there,
these count too: `reference` (a text), `log_probability` and `tokens` (the model's, a number for
each candidate), and `own`, what the model writes by itself, with `own_unsupported` where
`unsupported` is given: only with it can be said whether tuning will help.

It prints how often each ranking puts the better of two equally long candidates first, then what
that means; `--json` prints the same as metrics/votes.json.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brido.checkers.mentions import text_mentions
from brido.cli.score import add_comparison
from brido.report.knowledge import votes_text
from brido.rouge import similarity_batch
from brido.utils.errors import BridoError, run_command
from brido.utils.files import read_records
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object
from brido.utils.text import one_sentence_a_line
from brido.vote.consensus import consensus_scores
from brido.vote.verdict import TOLERANCE, Candidates, Judged, check_votes

PROGRAM = "python -m brido vote-check"
# A number for each candidate.
_LISTS = ("unsupported", "log_probability", "tokens")


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Check the candidates of a file and print what the vote knows."""
    options = parser(program).parse_args(arguments)
    records = read_candidates(options.file, options.alpha)
    told = check_records(
        records, options.alpha, options.combination, options.value, options.tolerance
    )
    if options.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return
    print(votes_text(told))
    if "election" not in told:
        print("Whether tuning on this vote will help is told where each line has `own` (--help).")


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", help="JSON lines, Parquet, or - for JSON lines on stdin")
    add_comparison(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        help="how unequal equal lengths may be (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="everything that was found, as JSON")
    return parser


def read_candidates(file: str, alpha: float = 0.0) -> list[dict[str, Any]]:
    """The records of a file or of stdin (-); BridoError lists the lines that cannot be used."""
    path = "stdin" if file == "-" else file
    records = _read_stdin() if file == "-" else read_records(Path(file))
    if not records:
        raise BridoError(f"{path} has no line: give JSON objects with `candidates`")
    size = len(records[0].get("candidates") or ())
    found = [_problem(record, size, set(records[0]), alpha) for record in records]
    problems = [f"line {number}: {problem}" for number, problem in enumerate(found, 1) if problem]
    if problems:
        if len(set(found)) == 1 and len(found) > 1:
            problems = [f"every line: {found[0]}"]
        raise BridoError.from_problems(
            f"{path}: nothing was checked (what lines hold: --help):", problems, limit=20
        )
    return records


def _read_stdin() -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            records.append(parse_object(line))
        except BridoError as error:
            raise BridoError(f"stdin line {number}: {error}") from None
        if holds_half_pair(records[-1]):
            raise BridoError(f"stdin line {number}: {HALF_PAIR}")
    return records


def _problem(record: dict[str, Any], size: int, keys: set[str], alpha: float) -> str | None:
    texts = record.get("candidates")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return f"`candidates` must be a list of texts; keys are {', '.join(record) or 'none'}"
    if len(texts) < 2 or len(texts) != size:
        need = f", as many as the first line ({size})" if len(texts) != size else ", at least 2"
        return f"has {len(texts)} candidates; all lines need the same number{need}"
    needed = {"document"} if "unsupported" not in keys else set()
    needed |= {key for key in ("reference", "own") if key in keys}
    needed |= {"reference"} if alpha > 0 else set()
    missing = sorted(key for key in needed if not isinstance(record.get(key), str))
    if missing == ["document"] and "document" not in keys:
        return "`document` is missing, or `unsupported`: a number for each candidate"
    if missing:
        return f"`{'`, `'.join(missing)}` must be a text, as in every line"
    for key in _LISTS:
        if key in keys and not _numbers(record.get(key), size):
            return f"`{key}` must be a list of {size} numbers, as in every line"
    if {"own", "unsupported"} <= keys and not _numbers([record.get("own_unsupported")], 1):
        return "`own_unsupported` must be a number where `own` and `unsupported` are given"
    return None


def _numbers(values: Any, size: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == size
        and all(isinstance(value, int | float) and math.isfinite(value) for value in values)
    )


def check_records(
    records: Sequence[dict[str, Any]],
    alpha: float = 0.0,
    combination: str = "harmonic_r1_r2",
    value: str = "fmeasure",
    tolerance: float = TOLERANCE,
) -> dict[str, Any]:
    """What metrics/votes.json would say of these records (see the module; all alike).

    Example:
        >>> document, wrong = "A lorry hit a wall in Ashwick.", "The car hit some house in Colham."
        >>> right = ["The lorry hit a wall in Ashwick.", "One lorry hit a wall in Ashwick."]
        >>> told = check_records([{"document": document, "candidates": [*right, wrong]}])
        >>> told["accuracy"]["vote"]["mean"]  # of two equally long, the vote prefers the better
        1.0
    """
    first = records[0]
    similarity = _similarity(records, combination, value)
    if "unsupported" in first:
        judge, wrong = "as given", np.array([record["unsupported"] for record in records])
    else:
        judge = "mentions"
        wrong = np.array(
            [[_unsupported(record, text) for text in record["candidates"]] for record in records]
        )
    words = np.array([[len(text.split()) for text in record["candidates"]] for record in records])
    found = Candidates(
        consensus_scores(similarity, alpha),
        np.ones(similarity.shape[:2], bool),
        similarity,
        wrong,
        words,
        *(
            np.array([record[key] for record in records], float) if key in first else None
            for key in ("log_probability", "tokens")
        ),
    )
    own = None
    if "own" in first:
        marks = [
            record["own_unsupported"]
            if "unsupported" in first
            else _unsupported(record, record["own"])
            for record in records
        ]
        own = np.array(marks), np.array([len(record["own"].split()) for record in records])
    return check_votes(found, own, Judged(judge, tolerance, "documents"))


def _similarity(records: Sequence[dict[str, Any]], combination: str, value: str) -> np.ndarray:
    """The similarities [D, N, N + 1] of all records; no reference, no number in its column."""
    known = "reference" in records[0]
    matrix = similarity_batch(
        [[one_sentence_a_line(text) for text in record["candidates"]] for record in records],
        [one_sentence_a_line(record["reference"]) if known else "" for record in records],
        combination,
        value=value,
    )
    if not known:
        matrix[:, :, -1] = math.nan
    return matrix


def _unsupported(record: dict[str, Any], text: str) -> int:
    return sum(not each[2] for each in text_mentions(record["document"], text, True))


if __name__ == "__main__":
    run_command(main)
