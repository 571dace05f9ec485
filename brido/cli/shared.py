"""What several commands share: options, the syntax of a prompt, the run of the project."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from brido.models.chats import pieces_of
from brido.utils.errors import BridoError
from brido.utils.rows import is_unicode
from brido.utils.stored import read_json

# The folder of the pipeline's tables and models in a project.
DATA = Path("data")
_CHOICE = Path("metrics/choice.json")
Function = TypeVar("Function", bound=Callable[..., Any])


def choice_option(name: str, choices: Sequence[str], text: str) -> Callable[[Function], Function]:
    """An option with few values, of which the first is the default."""
    kind = click.Choice(choices)
    return click.option(name, type=kind, default=choices[0], show_default=True, help=text)


def output_options(written: str) -> Callable[[Function], Function]:
    """Add the options --output and --force; see `brido.utils.outputs`. written: to --output."""

    def add(function: Function) -> Function:
        place = click.Path(path_type=Path)
        force = click.option("--force", is_flag=True, help="Replace --output if it is there.")
        return click.option("-o", "--output", type=place, help=written)(force(function))

    return add


STDOUT_OR_FILE = "The file to write (.jsonl). Default: stdout (-)."


def max_bad_option(function: Function) -> Function:
    """Add the option --max-bad."""
    return click.option(
        "--max-bad",
        type=click.FloatRange(0, 1),
        default=0.0,
        show_default=True,
        metavar="SHARE",
        help="Bad rows up to this share of all are left out and counted; more are an error.",
    )(function)


def chosen_system() -> str | None:
    """The system that metrics/choice.json says the run keeps; None without that file.

    Raises:
        BridoError: the file cannot be read.
    """
    if not _CHOICE.is_file():
        return None
    chosen: str = read_json(_CHOICE, "choose", chosen=str)["chosen"]
    return chosen


def prompt_option(text: str, default: str | None = None) -> Callable[[Function], Function]:
    """The option --prompt, in which \\n is a new line; `prompt_pieces` checks it."""
    return click.option(
        "--prompt",
        default=default,
        show_default=default is not None,
        callback=lambda context, option, value: value and value.replace("\\n", "\n"),
        help=f"{text} {{{{ document }}}} stands for the document, \\n for a new line.",
    )


def prompt_pieces(prompt: str) -> tuple[str, ...]:
    """What stands around the document (each of them) in a --prompt, as in `reading.prompt`.

    Raises:
        BridoError: the prompt has no place for the document, or something else of a template.
    """
    if not is_unicode(prompt):
        raise BridoError("--prompt is not UTF-8: write it as UTF-8")
    return pieces_of(prompt, "--prompt")
