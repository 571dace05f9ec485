"""Whether a vote finds the better candidates: `brido vote-check candidates.jsonl`."""

import json
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
import numpy as np

from brido.checkers.mentions import text_mentions
from brido.cli.rows import good_rows
from brido.cli.score import candidates_problem, comparison_options, score_row
from brido.cli.shared import max_bad_option
from brido.rouge.pairwise import Combination, Tokenizer
from brido.text.words import word_count
from brido.utils.rows import is_number
from brido.vote.check import pair_accuracy
from brido.vote.consensus import ranking


@click.command("vote-check")
@click.argument("file", default="-")
@comparison_options
@max_bad_option
def command(
    file: str, alpha: float, combination: Combination, tokenizer: Tokenizer, max_bad: float
) -> None:
    """Check whether the vote on the candidates in FILE (default: stdin) finds the better ones.

    Each row has `candidates` (at least two texts), and `document`, in which their names and numbers
    are looked up; or `unsupported`, for each candidate a number from 0: how much of it is not
    supported. The answer is JSON. Its `accuracy`: of two candidates of a document that are about
    equally long, and of which one is better supported, how often the vote prefers that one. Chance
    is 0.5.

    \b
    Example:
        brido vote-check candidates.jsonl
    """
    fault = partial(row_problem, alpha=alpha)
    with good_rows(file, fault, max_bad, "vote-check") as rows:
        checked = check_rows(list(rows), alpha, combination, tokenizer)
    click.echo(json.dumps(checked, indent=2))


def row_problem(row: dict[str, Any], alpha: float = 0.0) -> str:
    """What is wrong with a row that shall be checked, or ""."""
    needed = ["document"] * ("unsupported" not in row) + ["reference"] * (alpha > 0)
    if problem := candidates_problem(row, needed):
        return problem
    size = len(row["candidates"])
    given = row.get("unsupported", [0] * size)
    right = isinstance(given, list) and len(given) == size
    if right and all(is_number(value) and value >= 0 for value in given):
        return ""
    return f"`unsupported` must be a list of {size} numbers from 0, one a candidate"


def check_rows(
    rows: Sequence[dict[str, Any]],
    alpha: float = 0.0,
    combination: Combination = "harmonic_r1_r2",
    tokenizer: Tokenizer = "rouge_score",
) -> dict[str, float | int | None]:
    """The pair accuracy of the vote on checked rows, and how often it elects something wrong.

    Example:
        >>> right = ["The lorry hit a wall in Ashwick.", "One lorry hit a wall in Ashwick."]
        >>> wrong = "The car hit some house in Colham."
        >>> document = "A lorry hit a wall in Ashwick."
        >>> check_rows([{"document": document, "candidates": [*right, wrong]}])["accuracy"]
        1.0
    """
    size = max(len(row["candidates"]) for row in rows)
    # [D, N]; a candidate that is not there is NaN.
    scores, wrong, words = (np.full((len(rows), size), np.nan) for _ in range(3))
    elected = []
    for place, row in enumerate(rows):
        texts = row["candidates"]
        own = scores[place, : len(texts)] = score_row(row, alpha, combination, tokenizer)["scores"]
        wrong[place, : len(texts)] = row.get("unsupported") or _unsupported(row)
        words[place, : len(texts)] = [word_count(text) for text in texts]
        elected.append(wrong[place, ranking(own)[0]] > 0)
    accuracy, pairs = pair_accuracy(scores, wrong, words)
    return {
        "documents": len(rows),
        "pairs": pairs,
        "accuracy": None if math.isnan(accuracy) else round(accuracy, 4),
        "elected_unsupported": round(float(np.mean(elected)), 4),
        "candidates_unsupported": round(float(np.mean(wrong[~np.isnan(wrong)] > 0)), 4),
    }


def _unsupported(row: dict[str, Any]) -> list[int]:
    found = (text_mentions(row["document"], text, True) for text in row["candidates"])
    return [sum(not each.supported for each in mentions) for mentions in found]
