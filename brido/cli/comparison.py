"""What commands that compare candidates share: options, a check, a word while code compiles."""

from contextlib import AbstractContextManager, suppress
from typing import Any

import click
from numba.core.event import Event, Listener, install_listener

from brido.cli.shared import Function, choice_option
from brido.utils.arguments import as_alpha
from brido.utils.errors import ArgumentError, quoted
from brido.utils.json_lines import keys_of, kind
from brido.utils.progress import say


def candidates_problem(record: dict[str, Any]) -> str:
    """What is wrong with the `candidates` of a line, or nothing."""
    if "candidates" not in record:
        return f"the key `candidates` is missing. {keys_of(record)}"
    candidates = record["candidates"]
    if not isinstance(candidates, list):
        return f"`candidates` is {kind(candidates)}, but must be a list of texts"
    for place, text in enumerate(candidates, 1):
        if not isinstance(text, str):
            said = kind(text) if text is None else f"{kind(text)}, {quoted(text)}"
            return f"`candidates` must be texts: candidate {place} is {said}"
    if len(candidates) < 2:
        return f"`candidates` has too few texts ({len(candidates)}): a vote needs at least 2"
    return ""


def _alpha(context: click.Context, option: click.Parameter, value: str) -> float:
    number: str | float = value
    with suppress(ValueError):  # .inf, as YAML writes it
        number = float(value)
    try:
        return as_alpha(number)
    except ArgumentError as error:
        raise click.BadParameter(str(error)) from None


def comparison_options(function: Function) -> Function:
    """Add the options that say how candidates are compared."""
    for option in (
        choice_option(
            "--tokenizer",
            ["rouge_score", "unicode"],
            "Words of a-z and 0-9, as in rouge_score, or those of any script: for Chinese, "
            "Hindi, Russian, Arabic.",
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


def unclean_words(count: int, texts: int) -> str:
    """The start of a sentence about candidates that hold more than a summary, or none."""
    return (
        f"{count:,} of {texts:,} candidates hold a preamble, a thought or markup, are empty or "
        "refuse:"
    )


class _Told(Listener):
    told = False

    def on_start(self, event: Event) -> None:
        if not self.told:
            say("compiling for this machine: some seconds, the first time only")
        self.told = True

    def on_end(self, event: Event) -> None:
        pass


def told_when_compiling() -> AbstractContextManager[None]:
    """Return a block in which functions that compile say so on stderr, once together.

    Without a word a first call looks as if it hung.
    """
    block: AbstractContextManager[None] = install_listener("numba:compile", _Told())
    return block
