"""Consensus scores and ranks of anybody's candidates: `brido score candidates.jsonl`.

Each line is a JSON object with `candidates` (at least two texts) and, where alpha is above 0, the
`reference`; everything else in it is kept, `sources` for instance. It may say who has a vote and
who can be elected (`voters`, `eligible`: a truth value a candidate). Each line is answered at once
by the same object with `scores` (Eq. 2), `ranks` (1 is best) and `order` (indices, best first).
Without a file, or with -, lines are read from stdin, so it stands in a pipe: minimum Bayes risk
selection in one command.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from brido.utils.atomic import atomic_file
from brido.utils.errors import BridoError, parsing, quoted, run_command, some
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object

PROGRAM = "python -m brido score"
ANSWER = ("scores", "ranks", "order")
_MOST_PROBLEMS = 20


@dataclass(frozen=True)
class Vote:
    """How candidates are compared and counted; the names are those of params.yaml."""

    alpha: float = 0.0
    combination: str = "harmonic_r1_r2"
    value: str = "fmeasure"
    implementation: str = "rouge_score"
    use_stemmer: bool = True
    sentence_splitter: str = "abbreviations"


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Score a file or stdin and write one JSON line per line."""
    options = parser(program).parse_args(arguments)
    vote = Vote(
        options.alpha,
        options.combination,
        options.value,
        options.implementation,
        not options.no_stemmer,
        options.sentence_splitter,
    )
    path = Path(options.file)
    with ExitStack() as stack:
        if options.file == "-":
            lines, name = sys.stdin.buffer, "stdin"
        else:
            if options.output is not None and options.output.resolve() == path.resolve():
                raise BridoError(f"--output {path} is the file that is read: name another one")
            check_file(path, vote)
            lines, name = stack.enter_context(path.open("rb")), str(path)
        score_stream(lines, stack.enter_context(_writer(options.output)), vote, name)


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", default="-", help="JSONL file, - for stdin (default)")
    add_comparison(parser)
    parser.add_argument(
        "--implementation",
        choices=("rouge_score", "pltrdy"),
        default="rouge_score",
        help="whose ROUGE (default: %(default)s)",
    )
    parser.add_argument("--no-stemmer", action="store_true", help="compare words as they stand")
    parser.add_argument(
        "--sentence-splitter",
        choices=("abbreviations", "punkt"),
        default="abbreviations",
        help="of mean_r1_r2_rlsum: punkt needs NLTK's data (default: %(default)s)",
    )
    parser.add_argument("--output", type=Path, help="a file instead of stdout")
    return parser


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """The options that say how candidates are compared and counted."""
    parser.add_argument(
        "--alpha",
        type=_alpha,
        default=0.0,
        help="weight of the reference: 0 (default) the candidates alone, inf the reference alone",
    )
    parser.add_argument(
        "--combination",
        choices=("harmonic_r1_r2", "mean_r1_r2_rlsum"),
        default="harmonic_r1_r2",
        help="R of two texts: the harmonic mean of ROUGE-1 and 2, or the mean of 1, 2 and Lsum, "
        "whose sentences are split here (default: %(default)s)",
    )
    parser.add_argument(
        "--value",
        choices=("fmeasure", "precision", "recall", "mean_f_precision"),
        default="fmeasure",
        help="of ROUGE (default: %(default)s)",
    )


def _alpha(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(
            f"must be a number from 0, or inf for the reference alone, not {quoted(text)}"
        )
    return value


@contextmanager
def _writer(output: Path | None) -> Iterator[TextIO]:
    """stdout, or a file that appears whole at the end or not at all."""
    if output is None:
        yield sys.stdout
        return
    with atomic_file(output) as temporary, temporary.open("w", encoding="utf-8") as text:
        yield text


def check_file(path: Path, vote: Vote) -> None:
    """Return when every line of a file can be scored.

    Raises:
        BridoError: the file is missing, or lines are bad: the first of them, all counted.
    """
    problems = []
    with (
        parsing(lambda reason: f"{path}: {reason}; `-` reads from stdin"),
        path.open("rb") as lines,
    ):
        for number, line in _numbered(lines):
            try:
                parse_line(line, number, vote.alpha)
            except BridoError as error:
                problems.append(str(error))
    if problems:
        shown = problems[:_MOST_PROBLEMS]
        if len(problems) > len(shown):
            shown.append(f"and {len(problems) - len(shown):,} more lines")
        raise BridoError.from_problems(
            f"{path}: nothing was scored; one JSON object a line is expected:", shown
        )


def score_stream(lines: Iterable[bytes], output: TextIO, vote: Vote, name: str) -> None:
    """Answer every line of `lines` on `output`, each flushed before the next is read.

    Raises:
        BridoError: a line is bad; the lines before it have been answered.
    """
    for number, line in _numbered(lines):
        try:
            record = parse_line(line, number, vote.alpha)
        except BridoError as error:
            raise BridoError(f"{name}, {error}") from None
        answer = record | score_record(record, vote)
        output.write(json.dumps(answer, ensure_ascii=False) + "\n")
        output.flush()


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Non-blank lines with their numbers, from 1."""
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def parse_line(line: bytes, number: int, alpha: float) -> dict[str, Any]:
    """The checked record of one line; BridoError names the line and what is wrong with it."""
    try:
        record = parse_object(line)
    except BridoError as error:
        raise BridoError(f"line {number}: {error}") from None
    problem = _problem(record, alpha)
    if problem:
        raise BridoError(f"line {number}: {problem}")
    return record


def _problem(record: dict[str, Any], alpha: float) -> str | None:
    if holds_half_pair(record):
        return HALF_PAIR
    candidates = record.get("candidates")
    if not isinstance(candidates, list):
        return f"`candidates` must be a list of texts; keys are {some(list(record)) or 'none'}"
    for place, text in enumerate(candidates):
        if not isinstance(text, str):
            return f"`candidates` must be texts: number {place} is {quoted(text)}"
    if len(candidates) < 2:
        return f"`candidates` has {len(candidates)}: a vote needs at least 2"
    problem = _ballot_problem(record, len(candidates))
    if problem:
        return problem
    reference = record.get("reference")
    if alpha > 0 and not (isinstance(reference, str) and reference.strip()):
        return f"`reference` must be a text when alpha is {alpha:g}, not {quoted(reference)}"
    taken = [key for key in ANSWER if key in record]
    return f"has {', '.join(taken)} already: rename or drop it" if taken else None


def _ballot_problem(record: dict[str, Any], size: int) -> str | None:
    for key in ("voters", "eligible"):
        flags = record.get(key, [True] * size)
        fits = isinstance(flags, list) and len(flags) == size
        if not fits or not all(isinstance(flag, bool) for flag in flags):
            return f"`{key}` must be a list of {size} truth values, one a candidate"
    if sum(record.get("voters", [True] * size)) < 2:
        return "`voters` leaves fewer than 2: nobody could vote for anybody else"
    return None


def score_record(record: dict[str, Any], vote: Vote) -> dict[str, Any]:
    """`scores` and `ranks` in candidate order and `order`, best first, of one checked record.

    Who cannot be elected has neither score nor rank (null) and is in no order.

    Example:
        >>> found = score_record({"candidates": ["the cat sat", "a dog", "the cat slept"]}, Vote())
        >>> found["ranks"], found["order"]
        ([1, 3, 2], [0, 2, 1])
    """
    import numpy as np

    from brido.rouge import similarity_matrix
    from brido.utils.text import one_sentence_a_line
    from brido.vote.consensus import eligible_scores, ranking

    candidates = record["candidates"]
    # Without a weight the reference may be absent; its column is then not looked at.
    reference = record["reference"] if vote.alpha > 0 else ""
    if vote.combination == "mean_r1_r2_rlsum":
        candidates = [one_sentence_a_line(text, vote.sentence_splitter) for text in candidates]
        reference = one_sentence_a_line(reference, vote.sentence_splitter)
    similarity = similarity_matrix(
        candidates,
        reference,
        vote.combination,
        value=vote.value,
        implementation=vote.implementation,
        use_stemmer=vote.use_stemmer,
    )
    everybody = [True] * len(candidates)
    flags = (np.array([record.get(key, everybody)]) for key in ("voters", "eligible"))
    scores = eligible_scores(similarity[None], vote.alpha, "equation", *flags)[0]
    order = [int(index) for index in ranking(scores) if not np.isnan(scores[index])]
    ranks: list[int | None] = [None] * len(candidates)
    for rank, index in enumerate(order, 1):
        ranks[index] = rank
    shown = [None if np.isnan(score) else float(score) for score in scores]
    return {"scores": shown, "ranks": ranks, "order": order}


if __name__ == "__main__":
    run_command(main)
