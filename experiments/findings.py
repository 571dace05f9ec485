"""The tables and the picture of docs/results.md, and the tables of metrics/evidence/tables.md.

python -m experiments.findings            # prints all tables
python -m experiments.findings --write    # puts them into both files, draws docs/choice.png
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import click

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from experiments.ends import claim, drawn, endings, endings_in_full, regimes
from experiments.length import equal, equal_earlier
from experiments.orders import losses, orders, rivals, traits
from experiments.people import people
from experiments.readers import readers, readers_earlier, readers_in_full
from experiments.replay import choices, choices_in_full
from experiments.rows import EVIDENCE
from experiments.tables import Record, markdown

Finding = Callable[[], Iterator[Record]]

PAGE, DETAILS = Path("docs/results.md"), EVIDENCE / "tables.md"
FINDINGS: tuple[Finding, ...] = (regimes, endings, rivals, choices, equal, people, readers)
# What a reader of the page may want to look up, each with its heading.
MORE: dict[str, Finding] = {
    "The claim: runs that lose, runs that gain ten points, regret, minutes": claim,
    "The ends of a run": endings_in_full,
    "Other settings of the choice": choices_in_full,
    "Good summaries of each system minus base's": orders,
    "What the losses do": losses,
    "Good summaries minus base's, at base's length, in earlier runs of SmolLM2": equal_earlier,
    "Blind readings of planned runs": readers_in_full,
    "Blind readings at base's length, in an earlier run": readers_earlier,
    "Every system of every regime": traits,
}
INTRODUCTION = """\
# The planned runs in full

`python -m experiments.findings --write` makes this file from the rows beside it.
[Results](../../docs/results.md) says what the words mean, and what follows.
"""


def filled(page: str) -> str:
    """The page with each table, below `<!-- NAME -->`, made anew."""
    for finding in FINDINGS:
        start = f"<!-- {finding.__name__} -->\n"
        before, there, rest = page.partition(start)
        if not there:
            raise BridoError(f"{PAGE} has no {start.strip()}: the place of a table")
        # A table ends at the first empty line.
        page = before + start + markdown(finding()) + "\n\n" + rest.partition("\n\n")[2]
    return page


def details() -> str:
    """The file of the tables that the page leaves out."""
    tables = [f"## {heading}\n\n{markdown(finding())}\n" for heading, finding in MORE.items()]
    return "\n".join([INTRODUCTION, *tables])


@click.command()
@click.option("--write", is_flag=True, help="put them into both files, draw docs/choice.png")
def command(write: bool) -> None:
    """Print the tables of the studies, computed from the committed rows."""
    for finding in FINDINGS:
        click.echo(f"{finding.__name__}\n\n{markdown(finding())}\n")
    click.echo(details())
    if write:
        write_text(PAGE, filled(PAGE.read_text(encoding="utf-8")))
        write_text(DETAILS, details())
        drawn(PAGE.parent)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
