"""The tables and the picture of docs/results.md, from committed rows.

python -m experiments.findings            # prints the tables
python -m experiments.findings --write    # puts them into docs/results.md, draws docs/choice.png
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from experiments import reading
from experiments.ends import drawn, ending, regimes
from experiments.length import equal
from experiments.numbers import gaps, pairs, percent, points
from experiments.planned import of, settings
from experiments.replay import planned, table
from experiments.rows import EVIDENCE
from experiments.tables import Record, markdown

PAGE = Path("docs/results.md")
SYSTEMS = ("base", "vote", "information", "likelihood", "brio", "control", "guided", "short",
           "elected", "checked", "known")  # fmt: skip
# A question: which system is compared with which one.
QUESTIONS = (
    ("vote", "control"),
    ("information", "control"),
    ("information", "vote"),
    ("null", "base"),
    ("flat", "control"),
    ("known", "null"),
    ("vote_listwise", "base"),
)
# Blind readings of the planned runs' summaries.
READINGS = {"doctors' talks": "talks-seed-10", "abstracts": "abstracts-seed-10"}


def _each(cell: Callable[..., str], *values: Any) -> Record:
    return {setting: cell(of(setting), *values) for setting in settings()}


def orders() -> Iterator[Record]:
    """What each system does: good summaries minus those of base, and its traits below."""
    for name in SYSTEMS:
        yield {"system": name} | _each(_order, name)


def _order(own: pd.DataFrame, name: str) -> str:
    both = [pair[0] for pair in pairs(own, name, name)]
    if not both:
        return ""
    is_base = name == "base"
    good = percent(both, "good") if is_base else _difference(own, name, "base")
    means = [f"{np.mean([getattr(row, column) for row in both]):.1f}" for column in ("r1", "words")]
    return f"{good}<br>" + " / ".join(
        [percent(both, "unsupported"), percent(both, "whole"), *means]
    )


def _difference(own: pd.DataFrame, first: str, second: str) -> str:
    return points(gaps(pairs(own, first, second), "good"))


def questions() -> Iterator[Record]:
    """The questions about orders and losses: good summaries of one system minus another's."""
    for first, second in QUESTIONS:
        yield {"good summaries": f"{first} - {second}"} | _each(_difference, first, second)


def choices() -> Iterator[Record]:
    """The choice, replayed under several rules."""
    yield from table(planned())


def readers() -> Iterator[Record]:
    """What blind readers found: summaries with something unsupported, in per cent, and how long."""
    found = {label: reading.read(EVIDENCE / "readings" / name) for label, name in READINGS.items()}
    for name in SYSTEMS:
        record = {"system": name}
        for label, own in found.items():
            if name in own:
                flags, statements, measures = own[name]
                words = measures["words"]
                record |= {
                    f"{label}: unsupported": f"{100 * flags.mean():.1f}",
                    f"{label}: minus base": points([flags - own["base"][0]]),
                    f"{label}: unsupported in 100 words": f"{100 * statements / words:.1f}",
                    f"{label}: words": f"{words:.1f}",
                    f"{label}: copied": f"{100 * measures['copied']:.0f}",
                }
                if name == "base":
                    record[f"{label}: minus base"] = ""
        if len(record) > 1:
            yield record


FINDINGS: tuple[Callable[[], Iterator[Record]], ...] = (
    regimes, ending, questions, orders, choices, equal, readers,
)  # fmt: skip


def filled(page: str) -> str:
    """The page with each table, between `<!-- NAME -->` and `<!-- end -->`, made anew."""
    for finding in FINDINGS:
        start, end = f"<!-- {finding.__name__} -->\n", "<!-- end -->"
        before, there, rest = page.partition(start)
        if not there:
            raise BridoError(f"{PAGE} has no {start.strip()}: the place of a table")
        page = before + start + markdown(finding()) + "\n" + rest[rest.index(end) :]
    return page


@click.command()
@click.option("--write", is_flag=True, help="put them into docs/results.md, draw docs/choice.png")
def command(write: bool) -> None:
    """Print the tables of docs/results.md, computed from the committed rows."""
    for finding in FINDINGS:
        click.echo(f"{finding.__name__}\n\n{markdown(finding())}\n")
    if write:
        write_text(PAGE, filled(PAGE.read_text(encoding="utf-8")))
        drawn(PAGE.parent)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
