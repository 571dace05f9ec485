"""Consensus scores and ranks of candidates in a file: `brido score candidates.jsonl`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from brido.candidates.cleaning import clean
from brido.cli.rows import good_rows, unwritable
from brido.cli.shared import (
    STDOUT_OR_FILE,
    Function,
    choice_option,
    max_bad_option,
    output_options,
)
from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Combination, Tokenizer
from brido.text.words import one_sentence_a_line, unseen_share, unseen_warning
from brido.utils.errors import quoted
from brido.utils.outputs import check_output, json_line, output_text
from brido.utils.progress import say
from brido.utils.rows import is_blank, texts_problem
from brido.vote.consensus import consensus_scores, ranking


def candidates_problem(row: dict[str, Any], texts: Sequence[str] = ()) -> str:
    """What is wrong with a row of candidates, or ""; texts: the keys of texts that it needs."""
    if problem := texts_problem(row):
        return problem
    if (size := len(row["candidates"])) < 2:
        return f"`candidates` has too few texts ({size}): a vote needs at least 2"
    for key in texts:
        if not isinstance(row.get(key), str) or is_blank(row[key]):
            return f"`{key}` must be a text, and not blank, not {quoted(row.get(key))}"
    return ""


def comparison_options(function: Function) -> Function:
    """Add the options that say how candidates are compared."""
    for option in (
        choice_option(
            "--tokenizer",
            ["rouge_score", "unicode"],
            "Words of a-z and 0-9, as in rouge_score, or those of any script: Chinese, Russian, "
            "Arabic, letters with accents.",
        ),
        choice_option(
            "--combination",
            ["harmonic_r1_r2", "mean_r1_r2_rlsum"],
            "Similarity of two texts: the harmonic mean of ROUGE-1 and 2, or the mean of "
            "ROUGE-1, 2 and Lsum.",
        ),
        click.option(
            "--alpha",
            type=click.FloatRange(0),
            metavar="NUMBER",
            default=0,
            show_default=True,
            help="Weight of the reference. At 0 the candidates alone vote, at inf the reference "
            "alone.",
        ),
    ):
        function = option(function)
    return function


@click.command("score")
@click.argument("file", default="-")
@comparison_options
@click.option(
    "--clean",
    "cleans",
    is_flag=True,
    help="Remove preambles, thoughts and headings first, as the pipeline does; refusals do not "
    "vote. `candidates` are then the cleaned texts, `raw` the given ones.",
)
@max_bad_option
@output_options(STDOUT_OR_FILE)
def command(
    file: str, alpha: float, combination: Combination, tokenizer: Tokenizer, cleans: bool,
    max_bad: float, output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Score the candidates in each row of FILE (default: stdin): who is most like the others?

    That is minimum Bayes risk. FILE is JSON lines or Parquet. Each row has `candidates` (at least
    two texts) and, if alpha is above 0, the `reference`. The answer is the same row as a line of
    JSON, with `scores` (Eq. 2), `ranks` (1 is best) and `order` (indices from 0, best first).

    \b
    Example:
        brido score candidates.jsonl -o scored.jsonl
    """
    check_output(output, force)
    score = partial(score_row, alpha=alpha, combination=combination, tokenizer=tokenizer)
    counts = Counter[str]()
    with (
        good_rows(file, partial(row_problem, alpha=alpha), max_bad, "score") as rows,
        output_text(output) as text,
    ):
        for row in rows:
            answer = _scored_cleaned(row, score) if cleans else score(row)
            text.write(json_line(row | answer))
            counts.update(_doubts(row["candidates"]))
    _tell(counts, cleans, tokenizer)


def row_problem(row: dict[str, Any], alpha: float = 0.0) -> str:
    """What is wrong with a row that shall be scored, or ""."""
    if problem := candidates_problem(row, ["reference"] if alpha > 0 else []):
        return problem
    if taken := [key for key in ("scores", "ranks", "order") if key in row]:
        return f"already has {', '.join(taken)}, which the answer adds: rename them"
    return unwritable(row)


def score_row(
    row: dict[str, Any],
    alpha: float = 0.0,
    combination: Combination = "harmonic_r1_r2",
    tokenizer: Tokenizer = "rouge_score",
) -> dict[str, Any]:
    """`scores` and `ranks` in candidate order and `order`, best first, of one checked row.

    Example:
        >>> row = {"candidates": ["the cat sat", "a dog", "the cat slept"]}
        >>> found = score_row(row)
        >>> found["ranks"], found["order"]
        ([1, 3, 2], [0, 2, 1])
    """
    candidates = row["candidates"]
    # Without a weight the reference may be missing: its column is then ignored.
    reference = row["reference"] if alpha > 0 else ""
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


def _scored_cleaned(row: dict[str, Any], score: partial[dict[str, Any]]) -> dict[str, Any]:
    """What is added to a row whose candidates are cleaned; a refusal gets null for a score."""
    cleaned = [clean(text) for text in row["candidates"]]
    voters = [place for place, each in enumerate(cleaned) if each.answers]
    added: dict[str, list[Any]] = {"scores": [None] * len(cleaned), "ranks": [None] * len(cleaned)}
    order: list[int] = []
    if len(voters) >= 2:
        answer = score(row | {"candidates": [cleaned[place].text for place in voters]})
        for name, values in added.items():
            for place, value in zip(voters, answer[name], strict=True):
                values[place] = value
        order = [voters[place] for place in answer["order"]]
    texts = {"candidates": [each.text for each in cleaned], "raw": row["candidates"]}
    return texts | added | {"order": order}


def _doubts(candidates: Sequence[str]) -> dict[str, float]:
    """How many candidates a row has, how many are more than a summary, and what ROUGE passes over.

    unseen: candidates, each by the share of its words that ROUGE's own words do not know.
    """
    unclean = sum(bool(each.rules) or not each.answers for each in map(clean, candidates))
    size = len(candidates)
    return {"texts": size, "unclean": unclean, "unseen": size * unseen_share(candidates)}


def _tell(counts: Mapping[str, float], cleans: bool, tokenizer: Tokenizer) -> None:
    """Say what may be wrong with all candidates; cleans, tokenizer: how they were read."""
    share = counts["unseen"] / max(counts["texts"], 1)
    if tokenizer != "unicode" and (text := unseen_warning(share, "Add --tokenizer unicode")):
        say(f"score: {text}")
    if counts["unclean"] and not cleans:
        say(
            f"score: {counts['unclean']:,} of {counts['texts']:,} candidates hold a preamble, a "
            "thought or markup, are empty or refuse: they vote as they are. `brido score --clean` "
            "treats them as the pipeline does"
        )
