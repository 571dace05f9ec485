"""Replay the choice: `python -m experiments.replay` chooses anew in every committed run.

The rows of a run's systems on validation documents go through the product's own
`brido.report.choice.choose`, under several settings of section `choice`; the system that it keeps
is then measured on test documents. Of ROUGE and words the conditions use means alone, and those
are in the rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from brido.report.choice import Compared, choose
from brido.report.settings import ChoiceSettings
from brido.utils.errors import run_command
from experiments.numbers import gaps, interval, points
from experiments.rows import EVIDENCE, by_run, marked, read_rows, row_of
from experiments.tables import Record, markdown

# A loss: more than this much fewer good summaries than base on test documents.
LOSS = 0.02


@dataclass(frozen=True)
class Options:
    """A run: base first, then the other systems that have both splits, each by split."""

    name: str
    validation: dict[str, Any]
    test: dict[str, Any]

    @property
    def best(self) -> str:
        """The system with the most good summaries on test documents."""
        return max(self.test, key=lambda name: marked(self.test[name], "good").mean())


# The keys of section choice in the first rule.
FIRST: dict[str, Any] = {"rouge_loss": 1.0, "length_change": None, "standard_errors": 0.0}

# A rule: the system that it keeps of a run; None where the run lacks it.
Rule = Callable[[Options], str | None]


def kept_by(documents: int | None = None, **keys: Any) -> Rule:
    """What the product keeps under these keys of section choice, on the first so many documents."""
    settings = ChoiceSettings(**(FIRST | keys))

    def kept(run: Options) -> str:
        return choose(
            [compared(row, documents) for row in run.validation.values()], settings
        ).chosen

    return kept


def always(system: str) -> Rule:
    """Keep one system in every run that has it."""
    return lambda run: system if system in run.test else None


by_default = kept_by(**ChoiceSettings().model_dump(include=set(FIRST)))

RULES: dict[str, Rule] = {
    "most good on validation, ROUGE-1 at most 1 below base": kept_by(),
    "the same, by two standard errors": kept_by(standard_errors=2.0),
    "the same, by one standard error, length within 25 % (the default)": by_default,
    "one standard error, length within 10 %": kept_by(standard_errors=1.0, length_change=0.1),
    "one standard error, no ROUGE condition": kept_by(standard_errors=1.0, rouge_loss=None),
    **{
        f"the default on the first {count} validation documents": kept_by(
            count, standard_errors=1.0, length_change=0.25
        )
        for count in (20, 50)
    },
    "always the vote": always("vote"),
    "always vote and likelihood": always("likelihood"),
    "always the references' order (BRIO)": always("brio"),
    "always the control (shuffled)": always("control"),
}


def compared(row: Any, documents: int | None = None) -> Compared:
    """A system's row as the choice takes it; ROUGE and words are means of all its documents."""
    quality = marked(row, "good")[:documents]
    rouge = None if np.isnan(row.r1) else np.full(len(quality), row.r1)
    return Compared(row.system, quality, np.full(len(quality), row.words), rouge)


def options(rows: pd.DataFrame) -> list[Options]:
    """The runs of a table in which base and another system can be chosen."""
    runs = []
    for (setting, seed), own in by_run(rows):
        names = ["base", *sorted(set(own.system) - {"base", "reference", "elected"})]
        both = {
            name: [row_of(own, name, split) for split in ("validation", "test")] for name in names
        }
        there = {name: pair for name, pair in both.items() if not any(row is None for row in pair)}
        if (
            "base" not in there
            or len(there) < 2
            or np.isnan(marked(there["base"][0], "good")).any()
        ):
            continue
        validation, test = ({name: pair[split] for name, pair in there.items()} for split in (0, 1))
        runs.append(Options(f"{setting}, seed {seed}", validation, test))
    return runs


@cache
def finished() -> tuple[Options, ...]:
    """The runs of finished studies."""
    return tuple(options(read_rows(EVIDENCE / "finished/rows.csv")))


def table(runs: Sequence[Options]) -> Iterator[Record]:
    """A row for each rule: the kept system minus base on test documents."""
    for label, rule in RULES.items():
        chosen = [(run, name) for run in runs if (name := rule(run)) is not None]
        if not chosen:
            continue
        both = [(run.test[name], run.test["base"]) for run, name in chosen]
        gains = gaps(both, "good")
        means = [values.mean() for values in gains]
        regrets = [
            -gaps([(run.test[name], run.test[run.best])], "good")[0].mean() for run, name in chosen
        ]
        lost = [values for values in gains if values.mean() < -LOSS]
        clear = sum(interval([values])[2] < 0 for values in lost)
        yield {
            "rule": label,
            "runs": f"{len(chosen)}",
            "good - base": points(gains, [run.test["base"].marks for run, _ in chosen]),
            "worst run": f"{100 * min(means):+.1f}",
            "lose more than 2 points (interval without 0)": f"{len(lost)} ({clear})",
            "regret": f"{100 * np.mean(regrets):.1f}",
            "ROUGE-1": f"{np.mean([own.r1 - base.r1 for own, base in both]):+.1f}",
            "words": f"{100 * np.mean([own.words / base.words - 1 for own, base in both]):+.1f} %",
        }


def counts(runs: Sequence[Options], rule: Rule) -> dict[str, int]:
    """How often which system is kept."""
    kept = pd.Series([name for run in runs if (name := rule(run)) is not None])
    return kept.value_counts().to_dict()


def main() -> None:
    """Print the table, and how often the default keeps which system."""
    print(markdown(table(finished())))
    print(f"\nKept under the defaults: {counts(finished(), by_default)}")


if __name__ == "__main__":
    run_command(main)
