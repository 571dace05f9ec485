"""Replay the choice: the system that is kept is chosen anew in every run of the plans.

The rows of a run's systems on validation documents go through the product's own
`brido.report.choice.choose`, under several settings of section `choice`; the system that it keeps
is then measured on test documents. Of ROUGE and words the conditions use means alone, and those
are in the rows.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from brido.report.choice import Compared, choose
from brido.report.settings import ChoiceSettings
from brido.settings.presets import read_preset
from experiments.numbers import Values, gaps, interval, points
from experiments.plan import PLANS, read_plan
from experiments.rows import PLANNED, by_run, marked, read_planned, row_of
from experiments.tables import Record

# A loss: more than this much fewer good summaries than base on test documents.
LOSS = 0.02


@dataclass(frozen=True)
class Options:
    """A run: base first, then the other systems that have both splits, each by split.

    reference_words: the mean length of the references of test documents, because no row has that of
    validation documents. None without references.
    """

    setting: str
    seed: int
    validation: dict[str, Any]
    test: dict[str, Any]
    reference_words: float | None

    @property
    def best(self) -> str:
        """The system with the most good summaries on test documents."""
        return max(self.test, key=lambda name: marked(self.test[name], "good").mean())


# A rule: the system that it keeps of a run; None where the run lacks it.
Rule = Callable[[Options], str | None]


def kept_by(
    documents: int | None = None,
    among: Collection[str] | None = None,
    without: Collection[str] = (),
    mark: str = "good",
    **keys: Any,
) -> Rule:
    """What the product keeps under these keys of section choice, on the first so many documents.

    among: the systems that can be kept beside base; None: all. mark: what decides, "good" or
    "unsupported".
    """
    settings = ChoiceSettings(**keys)

    def kept(run: Options) -> str:
        systems = [
            compared(row, documents, mark)
            for name, row in run.validation.items()
            if name == "base" or (name not in without and (among is None or name in among))
        ]
        lower = mark == "unsupported"
        return choose(systems, settings, lower, run.reference_words).chosen

    return kept


def always(system: str) -> Rule:
    """Keep one system in every run that has it."""
    return lambda run: system if system in run.test else None


def chosen_by(rule: Rule, runs: Sequence[Options]) -> list[tuple[Options, str]]:
    """The runs in which a rule keeps a system, each with that system."""
    return [(run, name) for run in runs if (name := rule(run)) is not None]


@cache
def shipped(preset: str) -> tuple[str, ...]:
    """The systems that a preset trains and decodes beside base."""
    settings = read_preset(preset)
    return (*settings["tuned"], *settings["variants"])


def by_shipped(run: Options) -> str | None:
    """What is kept among the systems of a run's preset: `make repro`, or smollm2."""
    preset = "smollm2" if run.setting.startswith("SmolLM2") else "default"
    return kept_by(among=shipped(preset))(run)


by_default = kept_by()

RULES: dict[str, Rule] = {
    "the default: one standard error, ROUGE-1 and length conditions": by_default,
    **{f"the first {count} validation documents": kept_by(count) for count in (20, 100)},
    "no ROUGE condition": kept_by(rouge_loss=None),
    "length within 10 %": kept_by(length_change=0.1),
    "among the default systems": by_shipped,
    "without brio, which needs references": kept_by(without=("brio",)),
    **{f"always {name}": always(name) for name in ("vote", "information", "likelihood", "brio")},
    "always the control": always("control"),
}
# Of metrics/evidence/tables.md.
MORE_RULES: dict[str, Rule] = {
    "the first 50 validation documents": kept_by(50),
    "no standard error": kept_by(standard_errors=0),
    "two standard errors": kept_by(standard_errors=2),
    "no length condition": kept_by(length_change=None),
    "neither ROUGE nor length condition": kept_by(rouge_loss=None, length_change=None),
    "the fewest unsupported summaries": kept_by(mark="unsupported"),
}


def compared(row: Any, documents: int | None, mark: str) -> Compared:
    """A system's row as the choice takes it; ROUGE and words are means of all its documents."""
    quality = marked(row, mark)[:documents]
    rouge = None if np.isnan(row.r1) else np.full(len(quality), row.r1)
    return Compared(row.system, quality, np.full(len(quality), row.words), rouge)


def options(rows: pd.DataFrame) -> list[Options]:
    """The runs of a table in which base and another system can be chosen."""
    runs = []
    for (setting, seed), own in by_run(rows):
        there = set(own.system) - {"base", "reference", "elected"}
        order = systems_in_order().get(setting, [])
        # Of equals the choice keeps the first.
        names = ["base", *[name for name in order if name in there], *sorted(there - {*order})]
        both = {
            name: [row_of(own, name, split) for split in ("validation", "test")] for name in names
        }
        there = {name: pair for name, pair in both.items() if not any(row is None for row in pair)}
        if "base" not in there or len(there) < 2 or _unknown(there["base"]):
            continue
        validation, test = ({name: pair[split] for name, pair in there.items()} for split in (0, 1))
        references = row_of(own, "reference")
        words = None if references is None else references.words
        runs.append(Options(setting, seed, validation, test, words))
    return runs


def _unknown(rows: Sequence[Any]) -> bool:
    """Whether it was not measured how many summaries of some of the rows are good."""
    return any(np.isnan(marked(row, "good")).any() for row in rows)


@cache
def systems_in_order() -> dict[str, list[str]]:
    """The systems of each planned setting in the order in which stage choose compares them."""
    plans = [read_plan(PLANS / f"{name}.yaml") for name in PLANNED]
    return {
        run.setting: [*run.params["variants"], *run.params["tuned"]]
        for plan in plans
        for run in plan.runs
    }


@cache
def planned() -> tuple[Options, ...]:
    """The runs of the plans that have rows."""
    return tuple(options(read_planned()))


def runs_of(setting: str) -> list[Options]:
    """The runs of a setting of the plans."""
    return [run for run in planned() if run.setting == setting]


def gains(runs: Sequence[Options], rule: Rule, other: str = "base") -> Values:
    """Good summaries of what a rule keeps minus those of another system, a document, by run."""
    chosen = chosen_by(rule, runs)
    return gaps([(run.test[name], run.test[other]) for run, name in chosen if other in run.test])


def regret(runs: Sequence[Options], rule: Rule) -> float:
    """How far what a rule keeps is below the best in hindsight, in points: a mean over runs."""
    behind = gaps([(run.test[run.best], run.test[name]) for run, name in chosen_by(rule, runs)])
    return 100 * float(np.mean([values.mean() for values in behind]))


def losses(runs: Sequence[Options], rule: Rule) -> tuple[int, int]:
    """The runs that end more than LOSS below base, and those whose interval is below 0 as well."""
    lost = [values for values in gains(runs, rule) if values.mean() < -LOSS]
    return len(lost), sum(interval([values])[2] < 0 for values in lost)


def table(runs: Sequence[Options], rules: Mapping[str, Rule] = RULES) -> Iterator[Record]:
    """A row for each rule: the kept system minus base on test documents."""
    for label, rule in rules.items():
        chosen = chosen_by(rule, runs)
        if not chosen:
            continue
        both = [(run.test[name], run.test["base"]) for run, name in chosen]
        won, (lost, clear) = gains(runs, rule), losses(runs, rule)
        longer = np.mean([own.words / base.words - 1 for own, base in both])
        yield {
            "rule": label,
            "runs": f"{len(chosen)}",
            "good - base": points(won, [run.test["base"].marks for run, _ in chosen]),
            "worst run": f"{100 * min(values.mean() for values in won):+.1f}",
            "lose more than 2 points (interval without 0)": f"{lost} ({clear})",
            "regret": f"{regret(runs, rule):.1f}",
            "ROUGE-1 - base": f"{np.mean([own.r1 - base.r1 for own, base in both]):+.1f}",
            "words, of base": f"{100 * longer:+.1f} %",
        }


def choices() -> Iterator[Record]:
    """The table of all planned runs."""
    yield from table(planned())


def choices_in_full() -> Iterator[Record]:
    """Further rules on all planned runs."""
    yield from table(planned(), MORE_RULES)


def counts(runs: Sequence[Options], rule: Rule) -> dict[str, int]:
    """How often which system is kept."""
    kept = pd.Series([name for _, name in chosen_by(rule, runs)])
    return kept.value_counts().to_dict()
