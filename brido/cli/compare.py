"""Before and after: `brido compare base chosen` shows two systems' summaries side by side."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, close_to
from brido.utils.progress import say

if TYPE_CHECKING:
    from rich.text import Text

    from brido.report.side_by_side import Pair, Side

# What a terminal obeys: control characters, and changes of direction.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
DATA, CHOICE = Path("data"), Path("metrics/choice.json")
# Letters of a document that the terminal shows.
_SHOWN = 1200


@click.command("compare")
@click.argument("first", default="base")
@click.argument("second", default="chosen")
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Documents to show: half of them improved, half damaged, where there are as many. If "
    "there are fewer, others whose summaries differ.",
)
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write a page (one file) in place of text."
)
def command(first: str, second: str, documents: int, html: Path | None) -> None:
    """Show test documents with the summaries of FIRST and SECOND (default: base and chosen).

    The most improved documents come first, then the most damaged, then others that differ. What
    counts is the column that decides the choice (metrics/choice.json), then the number of
    unsupported mentions. Words that the other summary lacks are bold on a terminal. Mentions that
    the document does not hold are [!marked].

    \b
    Example:
        brido compare base chosen --documents 20 --html compare.html
    """
    from brido.report.side_by_side import as_html, most_changed, pairs
    from brido.settings.load import load_params

    params = load_params()
    chosen, by = _choice("chosen" in (first, second))
    names = [chosen if name == "chosen" else name for name in (first, second)]
    for name in names:
        if name not in params.all_systems:
            raise BridoError(
                f"{name} is not a system of this project{close_to(name, params.all_systems)}"
            )
    if names[0] == names[1]:
        others = [name for name in params.all_systems if name != names[0]]
        raise BridoError(
            f"{first} and {second} are the same system ({names[0]}): name two of this project's; "
            f"the others are {', '.join(others)}"
        )
    systems = (names[0], names[1])
    found = pairs(DATA, systems, params.evaluation.mentions.case_sensitive, by, params.variants)
    improved, damaged = most_changed(found, documents)
    equal = [pair for pair in found if pair.gain == (0.0, 0)]
    room = documents - len(improved) - len(damaged)
    groups = {"Improved": improved, "Damaged": damaged, "Neither": equal[:room]}
    if html is None:
        _print(groups)
    else:
        write_text(html, as_html(systems, by, groups))
        say(f"compare: {sum(map(len, groups.values()))} documents to {html}")
    better = sum(pair.gain > (0.0, 0) for pair in found)
    worse = sum(pair.gain < (0.0, 0) for pair in found)
    say(
        f"compare: {systems[0]} and {systems[1]} differ on {len(found):,} test documents: "
        f"{better:,} are improved, {worse:,} damaged, {len(equal):,} neither"
    )


def _choice(asked: bool) -> "tuple[str, tuple[str, str] | None]":
    """The chosen system, and the column that decides; it may be missing if not asked for."""
    from brido.utils.stored import read_json

    if not asked and not CHOICE.is_file():
        return "", None
    choice = read_json(CHOICE, "choose")
    try:
        metric, _, column = choice["by"].partition(".")
        return str(choice["chosen"]), (metric, column)
    except (KeyError, TypeError, AttributeError):
        raise BridoError(f"{CHOICE} is damaged: make it again with `dvc repro choose`") from None


def _print(groups: "dict[str, list[Pair]]") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for title, found in groups.items():
        for place, pair in enumerate(found, 1):
            heading = f"{title} {place} of {len(found)}: {_shown(pair.id)}"
            console.print(Text(heading, style="underline"))
            cut = " ..." if len(pair.document) > _SHOWN else ""
            console.print(Text(_shown(pair.document[:_SHOWN]) + cut, style="dim"))
            for side in (pair.first, pair.second):
                console.print(_line(side))
            console.print()


def _shown(text: str) -> str:
    """A stranger's text without what a terminal obeys."""
    return _OBEYED.sub("\ufffd", text)


def _line(side: "Side") -> "Text":
    from rich.text import Text

    from brido.report.side_by_side import number

    quality = "" if side.quality != side.quality else f", {number(side.quality)}"
    line = Text(f"{side.system} ({side.unsupported} unsupported{quality}): ")
    for piece in side.pieces:
        text = _shown(f"[!{piece.text}]" if piece.unsupported else piece.text)
        style = f"{'bold ' * piece.changed}{'red' * piece.unsupported}".strip()
        line.append(text, style=style or None)
    return line
