"""The check of a vote on candidates in JSON lines: `brido vote-check candidates.jsonl`."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from brido.checkers.mentions import text_mentions
from brido.cli.comparison import candidates_problem, comparison_options, told_when_compiling
from brido.cli.shared import output_option
from brido.rouge import similarity_batch
from brido.utils.errors import BridoError
from brido.utils.files import input_lines
from brido.utils.json_lines import is_number, read_objects
from brido.utils.outputs import check_output, output_text
from brido.utils.text import one_sentence_a_line, word_count
from brido.vote.check import pair_accuracy
from brido.vote.consensus import consensus_scores, ranking

Record = dict[str, Any]


@click.command("vote-check")
@click.argument("file", default="-")
@comparison_options
@output_option("The file to write, in place of stdout.")
def command(file: str, alpha: float, combination: str, tokenizer: str, output: Path | None) -> None:
    """Check whether the vote on the candidates in FILE (default: stdin) finds the better ones.

    FILE is JSON lines. Each line has `candidates`, equally many texts in every line, and `document`
    or `unsupported`. In `document` their names and numbers are looked up; `unsupported` is a number
    for each candidate, how much of it is not supported. With --alpha it also has `reference`.

    \b
    Example:
        brido vote-check candidates.jsonl
    """
    check_output(output, [file], "JSON")
    with input_lines(file) as lines:
        found = list(read_objects(lines))
    lists = (record.get("candidates") for _, record, _ in found)
    size = next((len(texts) for texts in lists if isinstance(texts, list)), 0)
    problems = [
        f"line {number}: {problem}"
        for number, record, unread in found
        if (problem := unread or _problem(record, size, alpha))
    ]
    if problems or not found:
        heading = f"{file}: nothing was checked"
        raise BridoError.from_problems(heading, problems or ["there is no line"], limit=20)
    with told_when_compiling():
        checked = check_records([record for _, record, _ in found], alpha, combination, tokenizer)
    with output_text(output, [file]) as text:
        text.write(f"{json.dumps(checked, indent=2)}\n")


def _problem(record: Record, size: int, alpha: float) -> str:
    if problem := candidates_problem(record):
        return problem
    if len(record["candidates"]) != size:
        return f"{len(record['candidates'])} candidates, but the first line has {size}"
    if alpha > 0 and not isinstance(record.get("reference"), str):
        return f"`reference` must be a text, because --alpha is {alpha:g}"
    marks = record.get("unsupported")
    if marks is None and not isinstance(record.get("document"), str):
        return "`document` must be a text, or `unsupported` a list of numbers, one a candidate"
    right = isinstance(marks, list) and len(marks) == size and all(map(is_number, marks))
    return "" if marks is None or right else f"`unsupported` must be a list of {size} numbers"


def check_records(
    records: list[Record],
    alpha: float = 0.0,
    combination: Any = "harmonic_r1_r2",
    tokenizer: Any = "rouge_score",
) -> dict[str, float | int | None]:
    """The pair accuracy of the vote on these records, and how often it elects something wrong.

    Example:
        >>> right = ["The lorry hit a wall in Ashwick.", "One lorry hit a wall in Ashwick."]
        >>> wrong = "The car hit some house in Colham."
        >>> document = "A lorry hit a wall in Ashwick."
        >>> check_records([{"document": document, "candidates": [*right, wrong]}])["accuracy"]
        1.0
    """
    split = partial(one_sentence_a_line, any_script=tokenizer == "unicode")
    texts = [list(map(split, one["candidates"])) for one in records]
    references = [split(one["reference"]) if alpha > 0 else "" for one in records]
    similarity = similarity_batch(texts, references, combination, tokenizer=tokenizer)
    scores = consensus_scores(similarity, alpha)
    wrong = np.array([one.get("unsupported") or _unsupported(one) for one in records], float)
    words = [[word_count(text) for text in one["candidates"]] for one in records]
    accuracy, pairs = pair_accuracy(scores, wrong, words)
    elected = wrong[np.arange(len(wrong)), ranking(scores)[:, 0]]
    return {
        "documents": len(records),
        "pairs": pairs,
        # Of two equally long candidates the vote prefers the better one; chance is .5.
        "accuracy": None if math.isnan(accuracy) else round(accuracy, 4),
        "elected_unsupported": round(float((elected > 0).mean()), 4),
        "candidates_unsupported": round(float((wrong > 0).mean()), 4),
    }


def _unsupported(record: Record) -> list[int]:
    found = (text_mentions(record["document"], text, True) for text in record["candidates"])
    return [sum(not mention.supported for mention in mentions) for mentions in found]
