"""The tables of docs/{results,readings,paper}.md, computed from the committed rows.

python -m experiments.tables            # prints all tables
python -m experiments.tables --write    # puts them into their pages
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from brido.settings.load import read_yaml
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.candidates import candidates
from experiments.numbers import Pairs, Record, gaps, markdown, points, share
from experiments.replay import (
    Options,
    Rule,
    always,
    by_default,
    by_menu,
    gains,
    kept_by,
    kept_pairs,
    options,
    planned,
)
from experiments.rows import (
    EVIDENCE,
    WORLD,
    by_run,
    planned_settings,
    read_rows,
)

PAGE = Path("docs/results.md")
# The differences of which the paper prints numbers.
PAPER = Path("experiments/paper.yaml")
# How the names of systems of plan `updates` end, by learning rate.
RATES = {"2e-4": "", "5e-5": "_5e_5", "2e-5": "_2e_5"}
ORDERS = ("vote", "information", "likelihood", "brio", "control")
# The runs of the world; the others are of real text.
GROUPS = {
    "a small model, the world": lambda run: run.setting in WORLD[:5],
    "SmolLM2, the world": lambda run: run.setting in WORLD[5:],
    "SmolLM2, real text": lambda run: run.setting not in WORLD,
}


def answers() -> Iterator[Record]:
    """The questions that a reader asks first, each over all runs that can answer it."""
    runs = planned()
    yield _answer("what the preset's choice keeps - base", runs, by_menu)
    for name, belongs in GROUPS.items():
        yield _answer(f"... {name}", [run for run in runs if belongs(run)], by_menu)
    yield _answer("chosen among all that were tried - base", runs, by_default)
    for count in (100, 20):
        yield _answer(f"... on {count} validation documents", runs, kept_by(count))
    world = [run for run in runs if run.setting in WORLD]
    yield _answer("vote - base", world, always("vote"))
    yield _answer("vote - control", world, always("vote"), "control")
    yield _answer("vote - brio", world, always("vote"), "brio")
    own, kept = options(read_rows(EVIDENCE / "length.csv")), kept_by(among=ORDERS)
    yield _answer("the same runs as below, at their own length", own, kept)
    equal = [_at_base_length(run) for run in own]
    yield _answer("at base's length: kept - base", equal, kept)
    yield _answer("at base's length: kept - control", equal, kept, "control")


def _answer(question: str, runs: Sequence[Options], rule: Rule, other: str = "base") -> Record:
    kept = kept_pairs(runs, rule, other)
    good = gaps(kept)
    sound = [100 * (a.sound - b.sound) for a, b in kept if not np.isnan(a.sound)]
    return {
        "difference, in points": question,
        "runs": f"{len(good)}",
        "good": points(good, bold=True),
        "worst run": f"{min(good):+.1f}",
        "sound": points(sound, bold=True),
        "unsupported": points(gaps(kept, "unsupported"), bold=True),
        "ROUGE-1": points([a.r1 - b.r1 for a, b in kept], bold=True),
    }


def regimes() -> Iterator[Record]:
    """What the runs of each regime end with."""
    for setting in planned_settings():
        runs = [run for run in planned() if run.setting == setting]
        kept = pd.Series([by_menu(run) for run in runs]).value_counts()
        brio = kept_pairs(runs, always("vote"), "brio")
        references = [100 * share(run.reference, "unsupported") for run in runs]
        yield {
            "regime": setting,
            "runs": f"{len(runs)}",
            "good: base → kept / control": _ends(runs, lambda row: 100 * share(row, "good")),
            "kept - base": points(gains(runs, by_menu), bold=True),
            "kept - control": points(gains(runs, by_menu, "control"), bold=True),
            "vote - control": points(gains(runs, always("vote"), "control"), bold=True),
            "vote - brio": points(gaps(brio), bold=True),
            "its unsupported": points(gaps(brio, "unsupported"), bold=True),
            "its ROUGE-1": points([one.r1 - two.r1 for one, two in brio], bold=True),
            "unsupported": _ends(runs, lambda row: 100 * share(row, "unsupported")),
            "of references": f"{np.mean(references):.1f}",
            "ROUGE-1": _ends(runs, lambda row: row.r1),
            "words": _ends(runs, lambda row: row.words),
            "kept": ", ".join(f"{name} {count}" for name, count in kept.items()),
            "all tried - base": points(gains(runs, by_default), bold=True),
        }


def _ends(runs: Sequence[Options], value: Callable[[Any], float]) -> str:
    before, kept, control = (
        np.mean([value(run.test[name]) for run in runs if (name := rule(run)) is not None])
        for rule in (always("base"), by_menu, always("control"))
    )
    return f"{before:.1f} → {kept:.1f} / {control:.1f}"


def _at_base_length(run: Options) -> Options:
    """The run with each system as that variant of it whose length is nearest to base's."""
    words = run.validation["base"].words

    def nearest(name: str) -> str:
        own = [other for other in run.validation if other == name or other.startswith(f"{name}_")]
        return min(own, key=lambda other: abs(run.validation[other].words - words))

    return replace(run, test={name: run.test[nearest(name)] for name in run.test})


def compared() -> dict[str, Pairs]:
    """The two systems of each difference that the paper prints, in every run that has both."""
    world = [run for run in planned() if run.setting in WORLD]
    sweeps = by_run(read_rows(EVIDENCE / "paper_claims.csv"))
    here: dict[str, Pairs] = {
        "references - base": [(run.reference, run.test["base"]) for run in world],
        "BRIO - base": kept_pairs(world, always("brio")),
        "vote - base": kept_pairs(world, always("vote")),
        "vote - BRIO": kept_pairs(world, always("vote"), "brio"),
    }
    for alpha, name in {"1": "alpha_1", "N - 1": "alpha_15", "inf": "brio"}.items():
        here[f"alpha {alpha} - alpha 0"] = [
            (run[name], run["vote"])
            for (setting, _), run in sweeps.items()
            if setting == "alpha, eta 1"
        ]
    for eta in ("0.1", "0.3", "3"):
        here[f"eta {eta} - eta 1"] = [
            (run["vote"], sweeps["alpha, eta 1", seed]["vote"])
            for (setting, seed), run in sweeps.items()
            if setting == f"eta {eta}"
        ]
    return here


def claims() -> Iterator[Record]:
    """What the paper says of systems and of alpha and eta, in its numbers, and the same here."""
    here = compared()
    for claim, numbers in read_yaml(PAPER).items():
        both = here[claim]
        yield (
            {"difference": claim}
            | numbers
            | {
                "here: runs": f"{len(both)}",
                "good": points(gaps(both), bold=True),
                "unsupported": points(gaps(both, "unsupported"), bold=True),
                "ROUGE-1": points([one.r1 - two.r1 for one, two in both if not np.isnan(one.r1)]),
            }
        )


def updates() -> Iterator[Record]:
    """More documents and smaller rates: what the vote has and its control has not, and the rest."""
    runs = by_run(read_rows(EVIDENCE / "updates.csv"))
    for count in ("200", "800", "3,200"):
        own = [systems for (name, _), systems in runs.items() if name == f"{count} documents"]
        for rate, ending in RATES.items():
            vote, control = f"vote{ending}", f"control{ending}"
            over_base, order, any_order = (
                [(run[one], run[other]) for run in own]
                for one, other in ((vote, "base"), (vote, control), (control, "base"))
            )
            yield {
                "documents": count,
                "learning rate": rate,
                "vote - base": points(gaps(over_base)),
                "vote - control": points(gaps(order)),
                "control - base": points(gaps(any_order)),
                "unsupported: vote - control": points(gaps(order, "unsupported")),
                "tau": ", ".join(f"{run[vote].tau:.2f}" for run in own),
                "lead": ", ".join(f"{run[vote].lead:.3f}" for run in own),
            }


# By page: each table stands below `<!-- NAME -->`.
PAGES: dict[Path, tuple[Callable[[], Iterator[Record]], ...]] = {
    PAGE: (answers, regimes),
    Path("docs/readings.md"): (candidates,),
    Path("docs/paper.md"): (claims, updates),
}


def filled(page: str, tables: Sequence[Callable[[], Iterator[Record]]]) -> str:
    """A page with its tables made anew."""
    for table in tables:
        start = f"<!-- {table.__name__} -->\n"
        before, _, rest = page.partition(start)
        # A table ends at the first empty line.
        page = before + start + markdown(table()) + "\n\n" + rest.partition("\n\n")[2]
    return page


@click.command()
@click.option("--write", is_flag=True, help="put them into their pages")
def command(write: bool) -> None:
    """Print the tables of the studies, computed from the committed rows."""
    for path, tables in PAGES.items():
        for table in tables:
            click.echo(f"{table.__name__}\n\n{markdown(table())}\n")
        if write:
            write_text(path, filled(path.read_text(encoding="utf-8"), tables))


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.tables"))
