"""Replay the choice: the system that is kept is chosen anew in every run of the plans.

The rows of a run's systems on validation documents go through the product's own
`brido.report.choice.choose`; the system that it keeps is then measured on test documents. Of ROUGE
and words the conditions use means alone, and those are in the rows.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from brido.report.choice import Compared, choose
from brido.report.settings import ChoiceSettings
from experiments.numbers import Pairs, gaps, share
from experiments.plan import PLANS, read_plan
from experiments.rows import PLANNED, by_run, marked, read_planned

# The systems that the presets had when the rows of these plans came: those of `make repro`; and
# smollm2's until 27 November 2026, when guided and brio were added to it.
REPRO = ("vote", "information", "control", "guided", "short")
SMOLLM2 = ("vote", "information", "likelihood", "control", "short")
WIDER = (*SMOLLM2, "brio", "guided")


@dataclass(frozen=True)
class Options:
    """A run: base first, then the other systems that have both splits, each by split.

    reference: people's own summaries of test documents, because no row has those of validation
    documents; None without references.
    """

    setting: str
    seed: int
    validation: dict[str, Any]
    test: dict[str, Any]
    reference: Any


# A rule: the system that it keeps of a run; None where the run lacks it.
Rule = Callable[[Options], str | None]


def kept_by(
    documents: int | None = None,
    among: Collection[str] | None = None,
    **keys: Any,
) -> Rule:
    """What the product keeps under these keys of section choice, on the first so many documents.

    among: the systems that can be kept beside base; None: all.
    """

    def kept(run: Options) -> str:
        systems = [
            compared(row, documents)
            for name, row in run.validation.items()
            if name == "base" or among is None or name in among
        ]
        words = None if run.reference is None else run.reference.words
        return choose(systems, ChoiceSettings(**keys), False, words).chosen

    return kept


def always(system: str) -> Rule:
    """Keep one system in every run that has it."""
    return lambda run: system if system in run.test else None


def menu(run: Options) -> tuple[str, ...]:
    """The systems that the preset of a run had when its rows came."""
    if not run.setting.startswith("SmolLM2"):
        return REPRO
    early = run.setting.endswith("articles") or (run.setting.endswith("Dialog") and run.seed == 10)
    return SMOLLM2 if early else WIDER


def by_menu(run: Options) -> str | None:
    """What is kept among the systems of a run's preset."""
    return kept_by(among=menu(run))(run)


by_default = kept_by()


def compared(row: Any, documents: int | None) -> Compared:
    """A system's row as the choice takes it; ROUGE and words are means of all its documents."""
    quality = marked(row, "good")[:documents]
    rouge = None if np.isnan(row.r1) else np.full(len(quality), row.r1)
    return Compared(row.system, quality, np.full(len(quality), row.words), rouge)


def options(rows: pd.DataFrame) -> list[Options]:
    """The runs of a table in which base and another system can be chosen."""
    runs, before = [], by_run(rows, "validation")
    for (setting, seed), test in by_run(rows).items():
        validation = before.get((setting, seed), {})
        there = (test.keys() & validation.keys()) - {"reference", "elected"}
        if "base" not in there:
            continue
        # Of equals the choice keeps the first. Systems that have left the plan come last.
        order = ["base", *systems_in_order().get(setting, [])]
        names = [name for name in order if name in there] + sorted(there - {*order})
        first, second = ({name: split[name] for name in names} for split in (validation, test))
        measured = [share(one["base"], "good") for one in (validation, test)]
        if len(names) > 1 and not np.isnan(measured).any():
            runs.append(Options(setting, seed, first, second, test.get("reference")))
    return runs


@cache
def systems_in_order() -> dict[str, list[str]]:
    """The systems of each planned setting in the order in which stage choose compares them."""
    plans = [read_plan(PLANS / f"{name}.yaml") for name in (*PLANNED, "length")]
    return {
        run.setting: [*run.params["variants"], *run.params["tuned"]]
        for plan in plans
        for run in plan.runs
    }


@cache
def planned() -> tuple[Options, ...]:
    """The runs of the plans that have rows."""
    return tuple(options(read_planned()))


def kept_pairs(runs: Sequence[Options], rule: Rule, other: str = "base") -> Pairs:
    """The rows of what a rule keeps and of another system, of each run that has both."""
    kept = [(run.test, rule(run)) for run in runs]
    return [(test[name], test[other]) for test, name in kept if name and other in test]


def gains(runs: Sequence[Options], rule: Rule, other: str = "base") -> list[float]:
    """What a rule keeps minus another system, in points of good summaries."""
    return gaps(kept_pairs(runs, rule, other))
