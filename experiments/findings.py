"""Print the tables of docs/results.md from the committed rows; cases.py says of what."""

from collections.abc import Iterable, Iterator

import click
import numpy as np
import pandas as pd

from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.cases import (
    ARMS,
    CASES,
    GREEDY,
    LEARNED_MORE,
    NOT,
    ORDERS,
    OTHER_KERNELS,
    PRICED,
    ROUNDS,
    SHORT,
    SHORTER,
    SMOLLM2,
    STEPS,
    THE_DEFAULT,
    TUNED_ON,
)
from experiments.costs import minutes
from experiments.foretold import foretells, foretells_good
from experiments.numbers import difference, gaps, paired, percent, points, rouge
from experiments.plan import AT_BASE_LENGTH, BEAMS, elected_before
from experiments.rows import METRICS, chosen, committed, has
from experiments.tables import Record, markdown


def _good(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """The difference in good summaries, empty on other corpora than the world."""
    pairs = paired(first, second)
    return points(gaps(first, second, "good")) if has(pairs[0], "good") else ""


def _shares(arms: Iterable[pd.DataFrame], mark: str = "unsupported") -> str:
    """The arms' shares in one cell; empty if they were not measured."""
    values = [percent(rows, mark).removesuffix(" %") for rows in arms]
    return f"{', '.join(values)} %" if all(values) else ""


def _rouge_1(arms: Iterable[pd.DataFrame]) -> str:
    """The arms' ROUGE-1 in one cell, means over seeds."""
    return ", ".join(f"{rows.r1.mean():.1f}" for rows in arms)


def less() -> Iterator[Record]:
    """Does tuning help, and does the order matter?"""
    for label, source, system, way in CASES:
        rows = committed(*source)
        base, tuned = paired(chosen(rows, "base", way), chosen(rows, system, way))
        control = paired(tuned, chosen(rows, "random", way))[1]
        arms = (base, tuned, control)
        yield {
            "model": label,
            "tuned on": _tuned_on(system),
            "seeds": f"{len(base)}",
            "unsupported: base, tuned, control": _shares(arms),
            "tuned - base": difference(tuned, base),
            "good: base, tuned, control": _shares(arms, "good"),
            "good, tuned - base": _good(tuned, base),
            "good, tuned - control": _good(tuned, control),
            "ROUGE-1: base, tuned, control": _rouge_1(arms),
        }


def orders() -> Iterator[Record]:
    """Do other orders do as much?"""
    for label, source, system in ORDERS:
        rows = committed(*source)
        base, own = arms = paired(*(chosen(rows, name, BEAMS) for name in ("base", system)))
        yield {
            "tuned on": label,
            "seeds": f"{len(own)}",
            "unsupported: base, tuned": _shares(arms),
            "whole: base, tuned": _shares(arms, "well-formed"),
            "good: base, tuned": _shares(arms, "good"),
            "good - base": _good(own, base),
            "greedy": _less_base(rows, system, GREEDY),
            "at base's length": _good(chosen(rows, system, AT_BASE_LENGTH), base),
            "ROUGE-1: base, tuned": _rouge_1(arms),
            "words": f"{own.words.mean():.1f}",
        }


def equal() -> Iterator[Record]:
    """What is left at equal length?"""
    for label, source, system, way in CASES:
        if way != BEAMS:
            continue
        rows = committed(*source)
        base = chosen(rows, "base", way)
        tuned, control = (chosen(rows, each, AT_BASE_LENGTH) for each in (system, "random"))
        yield {
            "model": label.removesuffix(", beams"),
            "tuned on": _tuned_on(system),
            "seeds that reach base's length": f"{len(gaps(tuned, base))} of {len(tuned)}",
            "unsupported, tuned - base": difference(tuned, base).split(", out")[0],
            "good, tuned - base": _good(tuned, base),
            "seeds where the control does too": f"{len(gaps(tuned, control))}",
            "unsupported, tuned - shuffled": difference(tuned, control).split(", out")[0],
            "good, tuned - shuffled": _good(tuned, control),
        }


def shorter() -> Iterator[Record]:
    """And if base is decoded as short as beams can?"""
    for label, source, systems in SHORTER:
        rows = committed(*source)
        for system in systems:
            own, base = paired(chosen(rows, system, BEAMS), chosen(rows, "base", SHORT))
            arms = (paired(chosen(rows, "base", BEAMS), base)[0], base, own)
            short, same = paired(chosen(rows, system, SHORT), base)
            yield {
                "model": label,
                "tuned on": _tuned_on(system),
                "seeds": f"{len(base)}",
                "words, short base": f"{base.words.mean():.1f}",
                "tuned": f"{own.words.mean():.1f}",
                "unsupported: base, short base, tuned": _shares(arms),
                "good: base, short base, tuned": _shares(arms, "good"),
                "good, tuned - short base": _good(own, base),
                "both short": _good(short, same),
                "ROUGE-1/2, short base": rouge(base),
                "of tuned": rouge(own),
            }


def again() -> Iterator[Record]:
    """And a second round?"""
    for label, source, system, control, start in ROUNDS:
        rows = committed(*source)
        rows = rows[rows.seed.isin(chosen(rows, "both again", BEAMS).seed)]
        own, base, other = (chosen(rows, name, BEAMS) for name in (system, "base", control))
        elected = chosen(rows, elected_before(system), "", "validation")
        yield {
            "arm": label,
            "seeds": f"{len(own)}",
            "unsupported": percent(own),
            "good": percent(own, "good"),
            "good - base": "" if system == "base" else _good(own, base),
            "good - control": _good(own, other) if len(other) else "",
            "good - base, greedy": "" if system == "base" else _less_base(rows, system, GREEDY),
            "turned good, turned bad": flips(own, chosen(rows, start, BEAMS)),
            "foretold": flips(elected, chosen(rows, start, BEAMS, "validation")),
            "ROUGE-1/2": rouge(own),
            "words": f"{own.words.mean():.1f}",
        }


def flips(after: pd.DataFrame, before: pd.DataFrame) -> str:
    """The shares of documents whose summary turned good, and no longer is; empty if unmeasured."""
    if after.empty or before.empty:
        return ""
    found = [[(one > 0).mean(), (one < 0).mean()] for one in gaps(after, before, "good")]
    return ", ".join(f"{100 * share:.1f} %" for share in np.mean(found, axis=0))


def cost() -> Iterator[Record]:
    """What does it cost?"""
    for label, (name, setting), systems in PRICED:
        rows, spent = committed(name, setting), minutes(METRICS / f"{name}-costs.csv")[setting]
        for system in systems:
            once, each = (f"{sum(spent[step] for step in steps):.0f}" for steps in STEPS[system])
            own = chosen(rows, system, "" if system.startswith("elected") else BEAMS)
            base = chosen(rows, "base", BEAMS)
            yield {
                "model": label,
                "tuned on": _tuned_on(system),
                "minutes to tune on 1,000 documents": once,
                "to write 1,000 summaries": each,
                "seeds": f"{len(own)}",
                "unsupported - base": "" if system == "base" else difference(own, base),
                "good - base": "" if system == "base" else _good(own, base),
                "ROUGE-1/2": rouge(own),
                "words": f"{own.words.mean():.1f}",
            }


def when_not() -> Iterator[Record]:
    """When does it not help?"""
    for label, source, system, way in NOT:
        rows = committed(*source)
        base, tuned = chosen(rows, "base", way), chosen(rows, system, way)
        equally = difference(chosen(rows, system, AT_BASE_LENGTH), base) if way == BEAMS else ""
        yield {
            "case": label,
            "decoded": way,
            "seeds": f"{len(base)}",
            "unsupported, base -> tuned": f"{percent(base)} -> {percent(tuned)}",
            "tuned - base": difference(tuned, base),
            "unsupported at base's length": equally,
            "good, tuned - base": _good(tuned, base),
        }


def knows() -> Iterator[Record]:
    """Is there a score that knows more?"""
    rows = committed(*THE_DEFAULT)
    others = committed(*OTHER_KERNELS)
    for label, system in ARMS:
        own, control = chosen(rows, system, BEAMS), chosen(rows, "random", BEAMS)
        yield {
            "arm": label,
            "unsupported": percent(own),
            "good": percent(own, "good"),
            "good - base": _less_base(rows, system, BEAMS),
            "other arithmetic": _less_base(others, system, BEAMS),
            "good - control": "" if system == "random" else _good(own, control),
            "good - base, greedy": _less_base(rows, system, GREEDY),
            "ROUGE-1/2": rouge(own),
            "words": f"{own.words.mean():.1f}",
        }


def _tuned_on(system: str) -> str:
    return TUNED_ON.get(system, "vote")


def _less_base(rows: pd.DataFrame, system: str, way: str) -> str:
    """Good summaries of a system minus base's, decoded in the same way; empty if not measured."""
    own = chosen(rows, system, way)
    return _good(own, chosen(rows, "base", way)) if len(own) else ""


def rouge_by_seed() -> str:
    """The lowest and highest change of ROUGE-1 and ROUGE-2 by a seed of the small model."""
    rows = committed(*THE_DEFAULT)
    after, before = (chosen(rows, system, BEAMS).set_index("seed") for system in ("both", "base"))
    changes = {
        name: after[key] - before[key] for name, key in (("ROUGE-1", "r1"), ("ROUGE-2", "r2"))
    }
    return "; ".join(
        f"{name}: {own.min():+.1f} to {own.max():+.1f}" for name, own in changes.items()
    )


def against_parts() -> list[str]:
    """Good summaries of the default minus those of one of its parts, and how they are compared."""
    found = []
    for other, source, way in (
        ("vote", THE_DEFAULT, BEAMS),
        ("vote", OTHER_KERNELS, BEAMS),
        ("vote", THE_DEFAULT, GREEDY),
        ("likelihood", THE_DEFAULT, BEAMS),
        ("vote", SMOLLM2, BEAMS),
        ("vote", SMOLLM2, GREEDY),
        ("vote", LEARNED_MORE, BEAMS),
    ):
        rows = committed(*source)
        found.append(_good(*(chosen(rows, system, way) for system in ("both", other))))
    return found


FINDINGS = (
    less,
    knows,
    orders,
    equal,
    shorter,
    again,
    when_not,
    foretells,
    foretells_good,
    cost,
)


@click.command()
def command() -> None:
    """Print the tables of docs/results.md from the committed rows of metrics/."""
    for finding in FINDINGS:
        click.echo(f"{finding.__doc__}\n\n{markdown(finding())}\n")
    click.echo(f"Small model, tuned - base, seed by seed: {rouge_by_seed()}")
    click.echo(f"Good, vote and likelihood - a part: {'; '.join(against_parts())}")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
