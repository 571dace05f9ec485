"""Print the tables of docs/results.md from the committed rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.numbers import chosen, difference, gaps, pairs, percent, points, rouge
from experiments.plan import AT_BASE_LENGTH, BEAMS
from experiments.rows import Row, read_rows
from experiments.tables import GREEDY, markdown, verdict

METRICS = Path("metrics")
Record = dict[str, Any]
# Label, table, setting, the tuned system, its control, decoding.
CASES = (
    ("small model of the world, beams", "evidence/control", "the default", BEAMS),
    ("the same, greedy", "evidence/control", "the default", GREEDY),
    ("SmolLM2, beams", "evidence/smollm2", "fine-tuned on 800 articles", BEAMS),
    ("the same, greedy", "evidence/smollm2", "fine-tuned on 800 articles", GREEDY),
    ("Gemma 3, beams", "evidence/gemma", "Gemma 3", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/texts", "MTS-Dialog, the vote and chance", BEAMS),
)
# What was tuned on few documents by one recipe; runs that stand in two tables are counted once.
CHECKED = (
    ("small model, 16 worlds and bases", (("study/world", "tuned", None, (BEAMS,)),)),
    (
        "SmolLM2, 64 documents",
        (
            ("evidence/smollm2", "tuned", None, (GREEDY, BEAMS)),
            ("evidence/laptop", "64 documents", None, (GREEDY, BEAMS)),
            ("evidence/growth", "64 documents", ("the preset",), (GREEDY, BEAMS)),
            ("evidence/texts", "64 documents", None, (GREEDY, BEAMS)),
        ),
    ),
    ("SmolLM2, 300 documents", (("evidence/longer", "tuned", None, (GREEDY, BEAMS)),)),
    ("Gemma 3, 64 documents", (("evidence/gemma", "tuned", None, (GREEDY, BEAMS)),)),
)
# Where the vote does not help: label, table, setting, system, decoding.
NOT = (
    ("a base that makes up little", "study/world", "stock phrases 0, base's corpus 1 supported",
     "tuned", BEAMS),
    ("no stock phrases, SmolLM2", "evidence/smollm2", "no stock phrases", "tuned", BEAMS),
    ("64 documents, SmolLM2", "evidence/growth", "the preset, on a GPU", "64 documents", GREEDY),
    ("512 documents, SmolLM2", "evidence/growth", "the preset, on a GPU", "512 documents", GREEDY),
    ("4 candidates, SmolLM2", "evidence/growth", "the preset, on a GPU",
     "64 documents, 4 candidates", BEAMS),
    ("another model, Gemma 3", "evidence/gemma", "Gemma 3", "tuned", BEAMS),
)  # fmt: skip


@cache
def _table(name: str) -> tuple[Row, ...]:
    return tuple(read_rows(METRICS / f"{name}.csv"))


def _rows(name: str, setting: str) -> list[Row]:
    return [row for row in _table(name) if row.setting == setting]


def _good(first: Sequence[Row], second: Sequence[Row]) -> str:
    """The difference in well-formed and supported summaries, empty on other corpora."""
    found = pairs(first, second)
    return points(gaps(found, "good")) if found and all(row.fluency for row, _ in found) else ""


def less() -> Iterator[Record]:
    """Does a tuned model make up less?"""
    for label, name, setting, way in CASES:
        rows = _rows(name, setting)
        base, tuned = chosen(rows, "base", way), chosen(rows, "tuned", way)
        good = f"{percent(base, 'good')} -> {percent(tuned, 'good')}" if _good(tuned, base) else ""
        yield {
            "model": label,
            "seeds": f"{len(base)}",
            "unsupported, base -> tuned": f"{percent(base)} -> {percent(tuned)}",
            "tuned - base": difference(tuned, base),
            "good, base -> tuned": good,
            "good, tuned - base": _good(tuned, base),
            "ROUGE-1/2, base": rouge(base),
            "tuned": rouge(tuned),
        }


def whose() -> Iterator[Record]:
    """What of it does the vote do, and what any order?"""
    for label, name, setting, way in CASES:
        rows = _rows(name, setting)
        tuned, control = chosen(rows, "tuned", way), chosen(rows, "random", way)
        yield {
            "model": label,
            "unsupported, vote": percent(tuned),
            "shuffled": percent(control),
            "vote - shuffled": difference(tuned, control),
            "good, vote": percent(tuned, "good") if _good(tuned, control) else "",
            "good, shuffled": percent(control, "good") if _good(tuned, control) else "",
            "good, vote - shuffled": _good(tuned, control),
            "ROUGE-1/2, vote": rouge(tuned),
            "of shuffled": rouge(control),
        }


def equal() -> Iterator[Record]:
    """What is left at equal length?"""
    for label, name, setting, way in CASES:
        if way != BEAMS:
            continue
        rows = _rows(name, setting)
        base, tuned = chosen(rows, "base", way), chosen(rows, "tuned", AT_BASE_LENGTH)
        control = chosen(rows, "random", AT_BASE_LENGTH)
        yield {
            "model": label.removesuffix(", beams"),
            "seeds that reach base's length": f"{len(pairs(tuned, base))} of {len(base)}",
            "unsupported, tuned - base": difference(tuned, base).split(", out")[0],
            "good, tuned - base": _good(tuned, base),
            "seeds of both": f"{len(pairs(tuned, control))}",
            "unsupported, vote - shuffled": difference(tuned, control).split(", out")[0],
            "good, vote - shuffled": _good(tuned, control),
        }


def when_not() -> Iterator[Record]:
    """When does it not help?"""
    for label, name, setting, system, way in NOT:
        rows = _rows(name, setting)
        base, tuned = chosen(rows, "base", way), chosen(rows, system, way)
        equally = difference(chosen(rows, system, AT_BASE_LENGTH), base) if way == BEAMS else ""
        yield {
            "case": label,
            "decoded": way,
            "seeds": f"{len(base)}",
            "unsupported, base -> tuned": f"{percent(base)} -> {percent(tuned)}",
            "tuned - base": difference(tuned, base),
            "at base's length": equally,
            "good, tuned - base": _good(tuned, base),
        }


def foretells() -> Iterator[Record]:
    """Does the check foretell it?"""
    for label, sources in CHECKED:
        found: Counter[tuple[str, str]] = Counter()
        for name, system, settings, ways in sources:
            for place in dict.fromkeys((row.setting, row.seed) for row in _table(name)):
                chain = [row for row in _table(name) if (row.setting, row.seed) == place]
                if settings is not None and place[0] not in settings:
                    continue
                for way in ways:
                    if chosen(chain, system, way):
                        found[verdict(chain, system, way)] += 1
        yield {"runs": label} | {
            f"{said}: helped, open, harmed": ", ".join(
                str(found[word, seen]) for seen in ("helps", "open", "harms")
            )
            for said, word in (("said helps", "helps"), ("said open", "open"),
                               ("said harms", "harms"))
        }  # fmt: skip


def rouge_by_seed() -> str:
    """The lowest and highest change of ROUGE-1 and ROUGE-2 by a seed of the small model."""
    rows = _rows("evidence/control", "the default")
    found = pairs(chosen(rows, "tuned", BEAMS), chosen(rows, "base", BEAMS))
    changes = {
        name: sorted(getattr(after, key) - getattr(before, key) for after, before in found)
        for name, key in (("ROUGE-1", "r1"), ("ROUGE-2", "r2"))
    }
    return "; ".join(f"{key}: {own[0]:+.1f} to {own[-1]:+.1f}" for key, own in changes.items())


FINDINGS = (less, whose, equal, when_not, foretells)


@click.command()
def command() -> None:
    """Print the tables of docs/results.md from the committed rows of metrics/."""
    for finding in FINDINGS:
        click.echo(f"{finding.__doc__}\n\n{markdown(finding())}\n")
    click.echo(f"Small model, tuned - base, seed by seed: {rouge_by_seed()}")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
