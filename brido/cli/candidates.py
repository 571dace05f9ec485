"""The one form of a line with candidates, and what the commands that read it share."""

from collections.abc import Sequence
from typing import Any

import click

from brido.cli.shared import Function, choice_option
from brido.utils.arguments import as_alpha
from brido.utils.blank import is_blank
from brido.utils.errors import quoted
from brido.utils.json_lines import texts_problem
from brido.utils.progress import say
from brido.utils.text import unseen_share, unseen_warning


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


def _alpha(context: click.Context, option: click.Parameter, value: str) -> float:
    try:
        return as_alpha(float(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


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
            callback=_alpha,
            metavar="NUMBER",
            default="0",
            show_default=True,
            help="Weight of the reference. At 0 the candidates alone vote, at inf the reference "
            "alone.",
        ),
    ):
        function = option(function)
    return function


class CandidatesTold:
    """Counts candidates, those with more than a summary, and words that ROUGE does not read."""

    def __init__(self) -> None:
        self.texts = self.unclean = 0
        self.unseen = 0.0

    def add(self, candidates: Sequence[str]) -> None:
        """Count the candidates of a row."""
        from brido.candidates.cleaning import clean

        self.texts += len(candidates)
        cleaned = map(clean, candidates)
        self.unclean += sum(bool(each.rules) or not each.answers for each in cleaned)
        self.unseen += len(candidates) * unseen_share(candidates)

    def say(self, command: str, way_out: str, tokenizer: str) -> None:
        """Say it; way_out: a sentence about the unclean ones, "" where they were cleaned."""
        if self.unclean and way_out:
            say(
                f"{command}: {self.unclean:,} of {self.texts:,} candidates hold a preamble, a "
                f"thought or markup, are empty or refuse: they vote as they are. {way_out}"
            )
        share = self.unseen / max(self.texts, 1)
        if tokenizer != "unicode" and (text := unseen_warning(share, "Add --tokenizer unicode")):
            say(f"{command}: {text}")
