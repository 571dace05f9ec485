"""Print the tables of docs/results.md from the committed rows."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pandas as pd

from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.numbers import difference, gaps, interval, paired, percent, points, rouge
from experiments.plan import AT_BASE_LENGTH, BEAMS
from experiments.rows import by_chain, chosen, has, read_rows
from experiments.tables import markdown

METRICS = Path("metrics")
GREEDY = "greedy"
Record = dict[str, str]
# Label, table, setting, the tuned system, decoding.
CASES = (
    ("small model of the world, beams", "evidence/information", "the default", "both", BEAMS),
    ("the same, greedy", "evidence/information", "the default", "both", GREEDY),
    ("SmolLM2, beams", "evidence/smollm2", "fine-tuned on 800 articles", "tuned", BEAMS),
    ("the same, greedy", "evidence/smollm2", "fine-tuned on 800 articles", "tuned", GREEDY),
    ("Gemma 3, beams", "evidence/gemma", "Gemma 3", "tuned", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/texts", "MTS-Dialog, the vote and chance", "tuned",
     BEAMS),
)  # fmt: skip
LIKELIHOOD = "vote and likelihood"
# What was tuned on few documents by one recipe: table, system, setting (None: every one). Runs that
# stand in two tables are counted once.
CHECKED = {
    "small model, 16 worlds and bases": (("study/world", "tuned", None),),
    "SmolLM2, 64 documents": (
        ("evidence/smollm2", "tuned", None),
        ("evidence/laptop", "64 documents", None),
        ("evidence/growth", "64 documents", "the preset"),
        ("evidence/texts", "64 documents", None),
    ),
    "SmolLM2, 300 documents": (("evidence/longer", "tuned", None),),
    "Gemma 3, 64 documents": (("evidence/gemma", "tuned", None),),
}
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

# What may know more than the vote: label, system, decoding.
ARMS = (
    ("base, guided, nothing trained", "guided"),
    ("tuned on the vote (the paper's)", "vote"),
    ("tuned on base's likelihood", "likelihood"),
    ("tuned on vote and likelihood (the default)", "both"),
    ("the same with prior .1", "both, prior .1"),
    ("tuned on shuffled scores (the control)", "random"),
)


@cache
def _table(name: str) -> pd.DataFrame:
    return read_rows(METRICS / f"{name}.csv")


def _rows(name: str, setting: str) -> pd.DataFrame:
    return _table(name).query("setting == @setting")


def _good(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """The difference in good summaries, empty on other corpora than the world."""
    pairs = paired(first, second)
    return points(gaps(first, second, "good")) if has(pairs[0], "good") else ""


def less() -> Iterator[Record]:
    """Does a tuned model make up less?"""
    for label, name, setting, system, way in CASES:
        rows = _rows(name, setting)
        base, tuned = chosen(rows, "base", way), chosen(rows, system, way)
        good = [percent(rows, "good") for rows in (base, tuned)]
        yield {
            "model": label,
            "tuned on": _tuned_on(system),
            "seeds": f"{len(base)}",
            "unsupported, base -> tuned": f"{percent(base)} -> {percent(tuned)}",
            "tuned - base": difference(tuned, base),
            "good, base -> tuned": " -> ".join(filter(None, good)),
            "good, tuned - base": _good(tuned, base),
            "ROUGE-1/2, base": rouge(base),
            "tuned": rouge(tuned),
        }


def whose() -> Iterator[Record]:
    """What of it does the vote do, and what any order?"""
    for label, name, setting, system, way in CASES:
        rows = _rows(name, setting)
        tuned, control = chosen(rows, system, way), chosen(rows, "random", way)
        yield {
            "model": label,
            "tuned on": _tuned_on(system),
            "unsupported, tuned": percent(tuned),
            "shuffled": percent(control),
            "tuned - shuffled": difference(tuned, control),
            "good, tuned": percent(tuned, "good"),
            "good, shuffled": percent(control, "good"),
            "good, tuned - shuffled": _good(tuned, control),
            "ROUGE-1/2, tuned": rouge(tuned),
            "of shuffled": rouge(control),
        }


def equal() -> Iterator[Record]:
    """What is left at equal length?"""
    for label, name, setting, system, way in CASES:
        if way != BEAMS:
            continue
        rows = _rows(name, setting)
        base = chosen(rows, "base", way)
        tuned, control = (chosen(rows, each, AT_BASE_LENGTH) for each in (system, "random"))
        yield {
            "model": label.removesuffix(", beams"),
            "tuned on": _tuned_on(system),
            "seeds that reach base's length": f"{len(gaps(tuned, base))} of {len(base)}",
            "unsupported, tuned - base": difference(tuned, base).split(", out")[0],
            "good, tuned - base": _good(tuned, base),
            "seeds where the control does too": f"{len(gaps(tuned, control))}",
            "unsupported, tuned - shuffled": difference(tuned, control).split(", out")[0],
            "good, tuned - shuffled": _good(tuned, control),
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
            "unsupported at base's length": equally,
            "good, tuned - base": _good(tuned, base),
        }


def knows() -> Iterator[Record]:
    """Is there a score that knows more?"""
    rows = _rows("evidence/information", "the default")
    others = _rows("evidence/information", "the default, other kernels")
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
    return LIKELIHOOD if system == "both" else "vote"


def _less_base(rows: pd.DataFrame, system: str, way: str) -> str:
    """Good summaries of a system minus base's, decoded in the same way; empty if not measured."""
    own = chosen(rows, system, way)
    return _good(own, chosen(rows, "base", way)) if len(own) else ""


def foretells() -> Iterator[Record]:
    """Does the check foretell it?"""
    for label, sources in CHECKED.items():
        found: Counter[tuple[str, str]] = Counter()
        for name, system, setting in sources:
            rows = _table(name) if setting is None else _rows(name, setting)
            for _, chain in by_chain(rows):
                for way in (GREEDY, BEAMS):
                    if len(chosen(chain, system, way)):
                        found[verdict(chain, system, way)] += 1
        yield {"runs": label} | {
            f"said {said}: helped, open, harmed": ", ".join(
                str(found[said, seen]) for seen in ("helps", "open", "harms")
            )
            for said in ("helps", "open", "harms")
        }


def verdict(chain: pd.DataFrame, system: str, decoding: str) -> tuple[str, str]:
    """What electing foretold on validation documents, and what tuning did on test documents.

    Each `helps`, `harms`, or `open` if the interval has 0 in it.
    """
    before = chosen(chain, "base", decoding, "validation")
    elected = chosen(chain, "elected", "", "validation")
    after = chosen(chain, "base", decoding)
    return _sign(elected, before), _sign(chosen(chain, system, decoding), after)


def _sign(first: pd.DataFrame, second: pd.DataFrame) -> str:
    _, low, high = interval(gaps(first, second))
    return "helps" if high < 0 else "harms" if low > 0 else "open"


def rouge_by_seed() -> str:
    """The lowest and highest change of ROUGE-1 and ROUGE-2 by a seed of the small model."""
    rows = _rows("evidence/information", "the default")
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
    for other, setting, way in (
        ("vote", "the default", BEAMS),
        ("vote", "the default, other kernels", BEAMS),
        ("vote", "the default", GREEDY),
        ("likelihood", "the default", BEAMS),
    ):
        rows = _rows("evidence/information", setting)
        found.append(_good(*(chosen(rows, system, way) for system in ("both", other))))
    return found


def against_short_base() -> str:
    """Good summaries of the default minus those of base at its shortest; base's words and share."""
    tuned = chosen(_rows("evidence/information", "the default"), "both", BEAMS)
    short = chosen(_rows("evidence/shorter", "the default"), "base", "short beams")
    return f"{short.words.mean():.1f} words, {percent(short, 'good')}: {_good(tuned, short)}"


FINDINGS = (less, whose, knows, equal, when_not, foretells)


@click.command()
def command() -> None:
    """Print the tables of docs/results.md from the committed rows of metrics/."""
    for finding in FINDINGS:
        click.echo(f"{finding.__doc__}\n\n{markdown(finding())}\n")
    click.echo(f"Small model, tuned - base, seed by seed: {rouge_by_seed()}")
    click.echo(f"Good, vote and likelihood - a part: {'; '.join(against_parts())}")
    click.echo(f"Good, vote and likelihood - shortest base: {against_short_base()}")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.findings"))
