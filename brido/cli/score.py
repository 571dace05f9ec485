"""Consensus scores and ranks of candidates in JSON lines: `brido score candidates.jsonl`."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from brido.candidates.cleaning import Cleaned, clean
from brido.cli.comparison import (
    candidates_problem,
    comparison_options,
    told_when_compiling,
    unclean_words,
)
from brido.cli.shared import output_option
from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Combination, Tokenizer
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError, quoted
from brido.utils.files import input_lines
from brido.utils.json_lines import read_objects
from brido.utils.outputs import check_output, output_text
from brido.utils.progress import say
from brido.utils.text import one_sentence_a_line, unseen_share, unseen_warning
from brido.vote.consensus import consensus_scores, ranking

ANSWER = ("scores", "ranks", "order")
_MOST_PROBLEMS = 20


@click.command("score")
@click.argument("file", default="-")
@comparison_options
@click.option(
    "--clean",
    "cleans",
    is_flag=True,
    help="Take off preambles, thoughts and headings first, and let refusals not vote, as the "
    "pipeline does. `candidates` are then the cleaned texts, `raw` the given ones.",
)
@output_option("The file to write, in place of stdout.")
def command(
    file: str,
    alpha: float,
    combination: Combination,
    tokenizer: Tokenizer,
    cleans: bool,
    output: Path | None,
) -> None:
    """Score the candidates in each line of FILE (default: stdin): who is most like the others?

    That is minimum Bayes risk. Each line is a JSON object with `candidates` (at least two texts)
    and, if alpha is above 0, the `reference`. Each line is answered at once by the same object with
    `scores` (Eq. 2), `ranks` (1 is best) and `order` (indices from 0, best first).

    FILE and --output may end in .gz or .zst.

    \b
    Example:
        brido score candidates.jsonl -o scored.jsonl
    """
    check_output(output, [file], "JSON lines")
    # A pipe, such as `<(command)` of a shell, can be read once: like stdin it is not checked first.
    if Path(file).is_file():
        check_file(file, alpha)
    with told_when_compiling(), input_lines(file) as lines, output_text(output, [file]) as text:
        name = "stdin" if file == "-" else file
        score_stream(lines, text, name, alpha, combination, tokenizer, cleans)


def check_file(path: str | Path, alpha: float) -> None:
    """Check that every line of a file can be scored.

    Raises:
        BridoError: the file is missing, or lines are bad: the first of them, all counted.
    """
    with input_lines(str(path)) as lines:
        problems = [problem for _, problem in checked(lines, alpha) if problem]
    if problems:
        heading = f"{path}: nothing was scored. A right line is {_right(alpha)}. The problems:"
        raise BridoError.from_problems(heading, problems, _MOST_PROBLEMS)


def score_stream(
    lines: Iterable[bytes],
    output: TextIO,
    name: str,
    alpha: float,
    combination: Combination,
    tokenizer: Tokenizer = "rouge_score",
    cleans: bool = False,
) -> None:
    """Answer every line of `lines` on `output`, each flushed before the next is read.

    At the end it says how many candidates hold more than a summary, and how many ROUGE misses.

    Raises:
        BridoError: a line is bad (the lines before it have been answered), or there is none.
    """
    texts = unclean = 0
    unseen = 0.0
    for record, problem in checked(lines, alpha):
        if problem:
            raise BridoError(f"{name}, {problem}. A right line is {_right(alpha)}")
        candidates = record["candidates"]
        cleaned = [clean(text) for text in candidates]
        score = partial(score_record, alpha=alpha, combination=combination, tokenizer=tokenizer)
        answer = record | (_scored_cleaned(record, cleaned, score) if cleans else score(record))
        output.write(json.dumps(answer, ensure_ascii=False) + "\n")
        output.flush()
        texts += len(candidates)
        unclean += sum(bool(each.rules) or not each.answers for each in cleaned)
        unseen += len(candidates) * unseen_share(candidates)
    if not texts:
        raise BridoError(f"{name}: nothing was scored: the input has no line")
    if unclean and not cleans:
        say(f"score: {unclean_words(unclean, texts)} they vote as they are. --clean treats them as "
            "the pipeline does")  # fmt: skip
    way_out = "Add --tokenizer unicode"
    if tokenizer != "unicode" and (warning := unseen_warning(unseen / texts, way_out)):
        say(f"score: {warning}")


def _scored_cleaned(
    record: dict[str, Any],
    cleaned: Sequence[Cleaned],
    score: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """What is added to a line whose candidates are cleaned; a refusal gets null for a score."""
    size = len(cleaned)
    voters = [place for place, each in enumerate(cleaned) if each.answers]
    raw = record.get("raw", record["candidates"])
    texts = {"candidates": [each.text for each in cleaned], "raw": raw}
    scores: list[float | None] = [None] * size
    ranks: list[int | None] = [None] * size
    if len(voters) < 2:
        return {**texts, "scores": scores, "ranks": ranks, "order": []}
    votes = record | {"candidates": [cleaned[place].text for place in voters]}
    answer = score(votes)
    for place, value, rank in zip(voters, answer["scores"], answer["ranks"], strict=True):
        scores[place], ranks[place] = value, rank
    order = [voters[place] for place in answer["order"]]
    return {**texts, "scores": scores, "ranks": ranks, "order": order}


def _right(alpha: float) -> str:
    """A line that can be scored, for messages."""
    reference = ', "reference": "A third text."' if alpha > 0 else ""
    return f'{{"candidates": ["A text.", "Another text."]{reference}}}'


def checked(lines: Iterable[bytes], alpha: float) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the record of each line that is not blank, and what is wrong with it, or nothing."""
    # The answer repeats the line, and has to be JSON.
    for number, record, problem in read_objects(lines, finite=True):
        found = problem or _problem(record, alpha)
        yield record, f"line {number}: {found}" if found else ""


def _problem(record: dict[str, Any], alpha: float) -> str | None:
    if problem := candidates_problem(record):
        return problem
    reference = record.get("reference")
    if alpha > 0 and not (isinstance(reference, str) and not is_blank(reference)):
        return (
            f"`reference` must be a text, and not empty, when alpha is {alpha:g}, not "
            f"{quoted(reference)}"
        )
    taken = [key for key in ANSWER if key in record]
    return f"already has {', '.join(taken)}, which the answer adds: rename them" if taken else None


def score_record(
    record: dict[str, Any],
    alpha: float = 0.0,
    combination: Combination = "harmonic_r1_r2",
    tokenizer: Tokenizer = "rouge_score",
) -> dict[str, Any]:
    """`scores` and `ranks` in candidate order and `order`, best first, of one checked record.

    Example:
        >>> record = {"candidates": ["the cat sat", "a dog", "the cat slept"]}
        >>> found = score_record(record)
        >>> found["ranks"], found["order"]
        ([1, 3, 2], [0, 2, 1])
    """
    candidates = record["candidates"]
    # Without a weight the reference may be missing: its column is then ignored.
    reference = record["reference"] if alpha > 0 else ""
    if combination == "mean_r1_r2_rlsum":
        any_script = tokenizer == "unicode"
        candidates = [one_sentence_a_line(text, any_script) for text in candidates]
        reference = one_sentence_a_line(reference, any_script)
    similarity = similarity_matrix(candidates, reference, combination, tokenizer=tokenizer)
    scores = consensus_scores(similarity, alpha)
    order = ranking(scores)
    return {
        "scores": scores.tolist(),
        "ranks": (np.argsort(order) + 1).tolist(),
        "order": order.tolist(),
    }
