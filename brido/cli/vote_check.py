"""The check of a vote on candidates in JSON lines: `brido vote-check candidates.jsonl`."""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from brido.checkers.mentions import text_mentions
from brido.checkers.wholeness import RULES, copied_share, whole_by_rules
from brido.cli.comparison import (
    candidates_problem,
    comparison_options,
    told_when_compiling,
)
from brido.cli.shared import output_option
from brido.rouge import similarity_batch
from brido.rouge.pairwise import Combination, Tokenizer
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError, quoted
from brido.utils.files import input_lines
from brido.utils.json_lines import is_number, kind, read_objects
from brido.utils.outputs import check_output, output_text
from brido.utils.progress import say
from brido.utils.text import one_sentence_a_line, unseen_share, unseen_warning, word_count
from brido.vote.consensus import consensus_scores
from brido.vote.votes import TOLERANCE, CheckSettings, check_votes
from brido.vote.votes_text import votes_text

# Of each list with a number for each candidate the least and the largest number, and both in words.
_LISTS = {
    "unsupported": (0.0, math.inf, "numbers from 0"),
    "log_probability": (-math.inf, 0.0, "numbers, at most 0"),
    "tokens": (1.0, math.inf, "numbers from 1"),
    "prior": (-math.inf, 0.0, "numbers, at most 0"),
}
_TEXTS = ("document", "reference", "own")
# A line that can be checked, for messages.
_RIGHT = '{"document": "A long text.", "candidates": ["A text.", "Another text."]}'


@click.command("vote-check")
@click.argument("file", default="-")
@comparison_options
@click.option("--json", "as_json", is_flag=True, help="Print everything that was found, as JSON.")
@output_option("The file to write, in place of stdout.")
def command(
    file: str,
    alpha: float,
    combination: Combination,
    tokenizer: Tokenizer,
    as_json: bool,
    output: Path | None,
) -> None:
    """Check whether the vote on the candidates in FILE (default: stdin) finds the better ones.

    FILE is JSON lines (also .gz, .zst). The answer is a table of orders, what its columns mean, and
    two sentences: whether the vote's candidates are better than the model's own, and what is left
    of the vote without copying, likelihood and length. Each line of FILE has

    \b
    candidates       at least two texts, equally many in each line
    document         the text in which their names and numbers are looked up; or
    unsupported      for each candidate a number from 0: how much of it is not supported
    and, if you have them, in every line:
    reference        a text
    own              what the model writes by itself, to compare the vote's candidates with
    own_unsupported  the number of `own`, beside `unsupported`
    log_probability  for each candidate, the model's log-probability of it for the document
    tokens           for each candidate, how many tokens it has
    prior            for each candidate, its mean log_probability with other documents; the row
                     `information alone` is log_probability less 0.2 times this

    \b
    Example:
        brido vote-check candidates.jsonl
    """
    check_output(output, [file], "JSON" if as_json else "text")
    records = read_candidates(file, alpha)
    with told_when_compiling():
        check = check_records(records, alpha, combination, tokenizer)
    share = unseen_share([text for record in records for text in record["candidates"]])
    if tokenizer != "unicode" and (warning := unseen_warning(share, "Add --tokenizer unicode")):
        say(f"vote-check: {warning}")
    shown = json.dumps(check, indent=2, ensure_ascii=False) if as_json else votes_text(check)
    with output_text(output, [file]) as text:
        text.write(f"{shown}\n")


def read_candidates(file: str, alpha: float = 0.0) -> list[dict[str, Any]]:
    """The records of a file or of stdin (-); BridoError lists the lines that cannot be used."""
    path = "stdin" if file == "-" else file
    with input_lines(file) as lines:
        found = list(read_objects(lines))
    if not found:
        raise BridoError(f"{path}: nothing was checked: the input has no line")
    first = next((record for _, record, unread in found if not unread), {})
    lists = (record.get("candidates") for _, record, _ in found)
    size = next((len(texts) for texts in lists if isinstance(texts, list)), 0)
    problems = [
        f"line {number}: {problem}"
        for number, record, unread in found
        if (problem := unread or _problem(record, size, set(first), alpha))
    ]
    if problems:
        heading = (
            f"{path}: nothing was checked. A right line is {_RIGHT} (--help says what else it may "
            "hold). The problems:"
        )
        raise BridoError.from_problems(heading, problems, limit=20)
    return [record for _, record, _ in found]


def _problem(record: dict[str, Any], size: int, keys: set[str], alpha: float) -> str | None:
    """What is wrong with a line; size and keys: of the first line."""
    if problem := candidates_problem(record):
        return problem
    texts = record["candidates"]
    if len(texts) != size:
        return (
            f"`candidates` has {len(texts)} texts, but the first line has {size}: give equally many"
        )
    return _text_problem(record, keys, alpha) or _number_problem(record, size, keys)


def _text_problem(record: dict[str, Any], keys: set[str], alpha: float) -> str | None:
    needed = {"document"} if "unsupported" not in keys else set()
    needed |= {key for key in _TEXTS if key in keys}
    needed |= {"reference"} if alpha > 0 else set()
    missing = sorted(key for key in needed if not isinstance(record.get(key), str))
    if missing == ["document"] and "document" not in keys:
        return "`document` is missing: give it, or give `unsupported`, a number for each candidate"
    if missing:
        given = ", ".join(f"`{key}`, which is {_given(record, key)}" for key in missing)
        return f"every line needs a text for {given}"
    # Nothing is supported by a blank document, and nothing is like a blank reference.
    read = {"document"} | ({"reference"} if alpha > 0 else set())
    if blank := sorted(key for key in needed & read if is_blank(record[key])):
        return f"`{blank[0]}` is blank: give its text, or leave the line out"
    known = {*_TEXTS, *_LISTS, "own_unsupported"}
    if more := [key for key in record if key in known - keys and record[key] is not None]:
        return f"`{more[0]}` is missing in the first line: give it in every line, or in none"
    return None


def _number_problem(record: dict[str, Any], size: int, keys: set[str]) -> str | None:
    for key, (low, high, named) in _LISTS.items():
        if key in keys and not _numbers(record.get(key), size, low, high):
            return (
                f"`{key}` must be a list of {size} {named}, one a candidate; it is "
                f"{_shown(record, key)}"
            )
    if "prior" in keys and "log_probability" not in keys:
        return (
            "`prior` needs `log_probability` in the same line: the candidates' values with their "
            "own document"
        )
    own = [record.get("own_unsupported")]
    if {"own", "unsupported"} <= keys and not _numbers(own, 1, 0.0, math.inf):
        return (
            "`own_unsupported` must be a number from 0 where `own` and `unsupported` are given; "
            f"it is {_shown(record, 'own_unsupported')}"
        )
    return None


def _given(record: dict[str, Any], key: str) -> str:
    return kind(record[key]) if key in record else "missing"


def _shown(record: dict[str, Any], key: str) -> str:
    """The value, cut short, or that there is none."""
    return quoted(record[key]) if key in record else "missing"


def _numbers(values: Any, size: int, low: float, high: float) -> bool:
    """Whether it is a list of that many numbers, none of them outside a range."""
    if not isinstance(values, list) or len(values) != size:
        return False
    return all(is_number(value) and low <= value <= high for value in values)


def check_records(
    records: Sequence[dict[str, Any]],
    alpha: float = 0.0,
    combination: Combination = "harmonic_r1_r2",
    tokenizer: Tokenizer = "rouge_score",
) -> dict[str, Any]:
    """Return the content of metrics/votes.json for these records (see `command`; all alike).

    Example:
        >>> document, wrong = "A lorry hit a wall in Ashwick.", "The car hit some house in Colham."
        >>> right = ["The lorry hit a wall in Ashwick.", "One lorry hit a wall in Ashwick."]
        >>> check = check_records([{"document": document, "candidates": [*right, wrong]}])
        >>> check["orders"]["vote"]["mean"]  # of two equally long, the vote prefers the better
        1.0
    """
    first = records[0]
    similarity = _similarity(records, combination, tokenizer)
    arrays = {
        "voters": np.ones(similarity.shape[:2], bool),
        "similarity": similarity,
        "words": _each(records, "candidates", lambda text, _: word_count(text)),
        "whole": _each(records, "candidates", _is_whole),
    }
    for key in ("log_probability", "tokens", "prior"):
        if key in first:
            arrays[key] = _numbers_of(records, key)
    if "document" in first:
        arrays["copied"] = _each(records, "candidates", _copied)
    if "own" in first:
        arrays["own_whole"] = _each(records, "own", _is_whole)
    marked = "unsupported" in first
    for key, texts in (("unsupported", "candidates"), ("own_unsupported", "own")):
        if texts in first:
            arrays[key] = (
                _numbers_of(records, key) if marked else _each(records, texts, _unsupported)
            )
    settings = CheckSettings("as given" if marked else "mentions", TOLERANCE, rules=RULES)
    return check_votes(arrays, {"vote": consensus_scores(similarity, alpha)}, settings)


def _each(
    records: Sequence[dict[str, Any]], key: str, count: Callable[[str, dict[str, Any]], float]
) -> NDArray[Any]:
    """count(text, record) of the texts under a key, [D, number of texts]."""
    return np.array([[count(text, one) for text in _list(one[key])] for one in records])


def _numbers_of(records: Sequence[dict[str, Any]], key: str) -> NDArray[Any]:
    return np.array([_list(record[key]) for record in records])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _similarity(
    records: Sequence[dict[str, Any]], combination: Combination, tokenizer: Tokenizer
) -> NDArray[Any]:
    """The similarities [D, N, N + 1] of all records; without references the last column is NaN."""
    known = "reference" in records[0]
    split = partial(one_sentence_a_line, any_script=tokenizer == "unicode")
    matrix = similarity_batch(
        [[split(text) for text in record["candidates"]] for record in records],
        [split(record["reference"]) if known else "" for record in records],
        combination,
        tokenizer=tokenizer,
    )
    if not known:
        matrix[:, :, -1] = math.nan
    return matrix


def _is_whole(text: str, record: dict[str, Any]) -> bool:
    return whole_by_rules(text, record.get("reference"), record.get("document") or "")


def _copied(text: str, record: dict[str, Any]) -> float:
    return copied_share(record["document"], text)


def _unsupported(text: str, record: dict[str, Any]) -> int:
    return sum(not each.supported for each in text_mentions(record["document"], text, True))
