"""The tables and the picture of docs/results.md, from committed rows.

python -m experiments.findings            # prints the tables
python -m experiments.findings --write    # puts them into docs/results.md, draws docs/choice.png
"""

import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from brido.report.style import COLOURS, drawing
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from experiments.numbers import gaps, pairs, percent, points
from experiments.replay import Options, by_default, counts, finished, options, table
from experiments.rows import ELECTED, EVIDENCE, marked, read_elections, read_rows
from experiments.tables import Record, cells, markdown

PAGE = Path("docs/results.md")
PICTURE = "choice"
DEFAULT = "the default world"
WORLD = (
    DEFAULT,
    "small model, breaks sentences",
    "SmolLM2, 800 articles",
    "SmolLM2, 3,200 articles",
    "SmolLM2, 800 articles, earlier wording",
    "SmolLM2, 3,200 articles, earlier wording",
    "SmolLM2, no stock phrases, earlier wording",
    "Gemma 3, earlier wording",
)
ORDERED = (DEFAULT, "small model, breaks sentences", *WORLD[2:4])
ORDERS = ("base", "vote", "information", "likelihood", "brio", "control", "guided", "short",
          "flat", "known", "null", "vote_listwise")  # fmt: skip
QUESTIONS = (
    ("is a shuffled order under `listwise` within 3 points of base?", "null", "base"),
    ("is `spread`, no order at all, within 3 points of the control?", "flat", "control"),
    ("is what is left of information 8 points above shuffled?", "known", "null"),
    ("does the vote gain anything under `listwise`?", "vote_listwise", "base"),
    ("does information with a prior beat the vote?", "information", "vote"),
    ("does it beat the control?", "information", "control"),
)
EQUAL = " at base's length"


@cache
def rows() -> pd.DataFrame:
    """All committed rows: the default's study first, then those of finished studies."""
    tables = [read_rows(EVIDENCE / "default.csv"), read_rows(EVIDENCE / "finished/rows.csv")]
    return pd.concat([one for one in tables if len(one)], ignore_index=True)


def of(setting: str) -> pd.DataFrame:
    """The rows of a setting."""
    return rows()[rows().setting == setting]


def measured(*settings: str) -> list[str]:
    """Those settings that have rows."""
    return [name for name in settings if len(of(name))]


def _good(run: Options, name: str) -> float:
    return float(marked(run.test[name], "good").mean()) if name in run.test else np.nan


def _mean(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return f"{100 * np.mean(known):.1f}" if known else "-"


def regimes() -> Iterator[Record]:
    """What a run ends with: base, chosen, control and the best in hindsight."""
    for setting in measured(*WORLD):
        runs = options(of(setting))
        kept = [by_default(run) for run in runs]
        chosen = [(run.test[name], run.test["base"]) for run, name in zip(runs, kept, strict=True)]
        control = [
            (run.test[name], run.test["control"])
            for run, name in zip(runs, kept, strict=True)
            if "control" in run.test
        ]
        gains = gaps(chosen, "good")
        words = np.mean([own.words / base.words - 1 for own, base in chosen])
        yield {
            "base": setting,
            "runs": f"{len(runs)}",
            "whole": percent([run.test["base"] for run in runs], "whole"),
            "good: base": _mean([_good(run, "base") for run in runs]),
            "chosen": _mean([_good(*pair) for pair in zip(runs, kept, strict=True)]),
            "control": _mean([_good(run, "control") for run in runs]),
            "best in hindsight": _mean([_good(run, run.best) for run in runs]),
            "chosen - base": points(gains),
            "worst run": f"{100 * min(one.mean() for one in gains):+.1f}",
            "chosen - control": points(gaps(control, "good")),
            "ROUGE-1, chosen - base": f"{np.mean([own.r1 - base.r1 for own, base in chosen]):+.1f}",
            "words": f"{100 * words:+.0f} %",
            "chosen systems": ", ".join(
                f"{name} {count}" for name, count in counts(runs, by_default).items()
            ),
        }


def orders() -> Iterator[Record]:
    """What each system does."""
    for setting in measured(*ORDERED):
        own = of(setting)
        for name in ORDERS:
            # One run of a finished study says little.
            if len(pairs(own, name, name)) >= (1 if setting == DEFAULT else 2):
                label = f"{setting}: base" if name == "base" else name
                yield {"system": label} | cells(own, name)


def equal() -> Iterator[Record]:
    """What is left when a length penalty makes a system write as many words as base."""
    for setting in measured(*ORDERED):
        own = of(setting)
        for name in ("vote", "likelihood", "control"):
            both = pairs(own, name + EQUAL, "base")
            if both:
                yield {
                    "base": setting,
                    "system": name,
                    "seeds": f"{len(both)}",
                    "unsupported - base": points(gaps(both, "unsupported")),
                    "good - base": points(gaps(both, "good")),
                }


def election() -> Iterator[Record]:
    """What the vote does at use: candidates of base and of the chosen system elect a summary."""
    for system in ("base", "chosen"):
        both = pairs(read_elections(), system + ELECTED, system)
        elected, decoded = zip(*both, strict=True)
        record = {"system": system, "runs": f"{len(both)}"}
        for mark in ("good", "unsupported", "whole"):
            record[mark], record[f"{mark}, elected"] = (
                percent(decoded, mark),
                percent(elected, mark),
            )
        ratio = np.mean([own.seconds / other.seconds for own, other in both])
        yield record | {
            "good, elected - decoded": points(gaps(both, "good")),
            "ROUGE-1": f"{np.mean([own.r1 - other.r1 for own, other in both]):+.1f}",
            "processor time": f"{ratio:.1f} times",
        }


def losses() -> Iterator[Record]:
    """The questions about losses: one system minus another in the default's study."""
    for question, first, second in QUESTIONS:
        both = pairs(of(DEFAULT), first, second)
        rouge = np.mean([own.r1 - other.r1 for own, other in both])
        yield {
            "question": question,
            "good summaries": f"{first} - {second}",
            "runs": f"{len(both)}",
            "points": points(gaps(both, "good")),
            "whole": points(gaps(both, "whole")),
            "ROUGE-1": f"{rouge:+.1f}",
        }


def choices() -> Iterator[Record]:
    """The choice, replayed under several rules."""
    yield from table(finished())


FINDINGS: tuple[Callable[[], Iterator[Record]], ...] = (
    regimes, choices, orders, election, equal, losses,
)  # fmt: skip


def draw(folder: Path) -> None:
    """Write choice.png: an arrow from base to the chosen system for each run, and its control."""
    runs: list[tuple[int, Options]] = []
    for place, setting in enumerate(measured(*WORLD)):
        runs += [(place, run) for run in options(of(setting))]
    with drawing(folder, PICTURE, width=8.0, height=4.0) as axes:
        axis = axes[0, 0]
        for x, (_, run) in enumerate(runs):
            before, after = (100 * _good(run, name) for name in ("base", by_default(run)))
            axis.plot([x, x], [before, after], color=COLOURS[0], linewidth=1.6)
            axis.plot(x, before, "o", color="white", markeredgecolor=COLOURS[0])
            axis.plot(x, after, "o", color=COLOURS[0])
            axis.plot(x, 100 * _good(run, "control"), "x", color=COLOURS[1])
        _label(axis, [place for place, _ in runs])
    (folder / f"{PICTURE}.svg").unlink()


def _label(axis: Any, places: list[int]) -> None:
    names = measured(*WORLD)
    for place in range(len(names)):
        where = [x for x, own in enumerate(places) if own == place]
        axis.axvline(where[-1] + 0.5, color="#cccccc", linewidth=0.8)
        name = textwrap.fill(names[place], 12)
        axis.text(np.mean(where), -3, name, ha="center", va="top", fontsize=6)
    axis.set_xticks([])
    axis.set_ylim(0, 100)
    axis.grid(visible=False, axis="x")
    axis.set_ylabel("good summaries, % of test documents")
    for marker, colour, face, label in (
        ("o", COLOURS[0], "white", "base"),
        ("o", COLOURS[0], COLOURS[0], "chosen"),
        ("x", COLOURS[1], COLOURS[1], "control (shuffled order)"),
    ):
        axis.plot([], [], marker, color=face, markeredgecolor=colour, label=label)
    axis.legend(loc="upper left", ncols=3)


def filled(page: str) -> str:
    """The page with each table, between `<!-- NAME -->` and `<!-- end -->`, made anew."""
    for finding in FINDINGS:
        start, end = f"<!-- {finding.__name__} -->\n\n", "<!-- end -->"
        before, found, rest = page.partition(start)
        if not found:
            raise BridoError(f"{PAGE} has no {start.strip()}: the place of a table")
        page = before + start + markdown(finding()) + "\n\n" + rest[rest.index(end) :]
    return page


@click.command()
@click.option("--write", is_flag=True, help="put them into docs/results.md, draw docs/choice.png")
def command(write: bool) -> None:
    """Print the tables of docs/results.md, computed from the committed rows."""
    for finding in FINDINGS:
        click.echo(f"{finding.__name__}\n\n{markdown(finding())}\n")
    if write:
        write_text(PAGE, filled(PAGE.read_text(encoding="utf-8")))
        draw(PAGE.parent)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
