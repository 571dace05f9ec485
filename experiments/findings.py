"""Print the tables of docs/results.md from the committed rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import click
import numpy as np
import pandas as pd

from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.costs import minutes
from experiments.numbers import difference, gaps, interval, paired, percent, points, rouge
from experiments.plan import AT_BASE_LENGTH, BEAMS, elected_before
from experiments.rows import by_chain, chosen, has, marks, read_rows
from experiments.tables import markdown

METRICS = Path("metrics")
GREEDY = "greedy"
Record = dict[str, str]
# Label, table, setting, the tuned system, decoding.
CASES = (
    ("small model of the world, beams", "evidence/information", "the default", "both", BEAMS),
    ("the same, greedy", "evidence/information", "the default", "both", GREEDY),
    ("the same, beams", "evidence/information", "the default", "vote", BEAMS),
    ("SmolLM2, beams", "evidence/pretrained", "SmolLM2, 800 articles", "both", BEAMS),
    ("the same, greedy", "evidence/pretrained", "SmolLM2, 800 articles", "both", GREEDY),
    ("SmolLM2, beams", "evidence/pretrained", "SmolLM2, 800 articles", "vote", BEAMS),
    ("SmolLM2, 3,200 articles, beams", "evidence/pretrained", "SmolLM2, 3,200 articles", "both",
     BEAMS),
    ("the same, greedy", "evidence/pretrained", "SmolLM2, 3,200 articles", "both", GREEDY),
    ("the same, beams", "evidence/pretrained", "SmolLM2, 3,200 articles", "vote", BEAMS),
    ("the same, earlier wording, beams", "evidence/smollm2", "fine-tuned on 3200 articles",
     "tuned", BEAMS),
    ("Gemma 3, beams", "evidence/gemma", "Gemma 3", "tuned", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/pretrained", "SmolLM2, MTS-Dialog", "a token",
     BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/pretrained", "SmolLM2, MTS-Dialog", "vote", BEAMS),
    ("the same, 300 documents, beams", "evidence/texts", "MTS-Dialog, the vote and chance",
     "tuned", BEAMS),
    ("SmolLM2 on SciTLDR, beams", "evidence/texts", "SciTLDR, vote and likelihood", "a token",
     BEAMS),
)  # fmt: skip
SHORT = "short beams"
# Where base was decoded as short as beams can: label, table, setting, tuned systems.
SHORTER = (
    ("small model of the world", "evidence/rounds", "the default", ("both", "vote", "random")),
    ("SmolLM2", "evidence/pretrained", "SmolLM2, 800 articles", ("both", "vote", "random")),
    ("SmolLM2, 3,200 articles", "evidence/pretrained", "SmolLM2, 3,200 articles",
     ("both", "random")),
    ("SmolLM2 on MTS-Dialog", "evidence/pretrained", "SmolLM2, MTS-Dialog",
     ("a token", "vote", "random")),
)  # fmt: skip
SMALL = ("evidence/rounds", "the default")
SMOLLM2 = ("evidence/pretrained", "SmolLM2, 800 articles")
# Label, table and setting, system, its control, and the system whose model it started from.
ROUNDS = (
    ("small model: base", SMALL, "base", "", ""),
    ("tuned on vote and likelihood", SMALL, "both", "random", "base"),
    ("the same, tuned again", SMALL, "both again", "random again", "both"),
    ("control: shuffled scores", SMALL, "random", "", "base"),
    ("control, tuned again", SMALL, "random again", "", "random"),
    ("SmolLM2: base", SMOLLM2, "base", "", ""),
    ("tuned on vote and likelihood", SMOLLM2, "both", "random", "base"),
    ("the same, tuned again", SMOLLM2, "both again", "", "both"),
)
# What else may order candidates, or nothing: label, table and setting, system.
PAIRS = "a beam against a hot sample"
EARLIER = ("evidence/smollm2", "fine-tuned on 800 articles")
ORDERS = (
    ("small model: vote and likelihood", ("evidence/information", "the default"), "both"),
    ("vote", ("evidence/information", "the default"), "vote"),
    ("references' order (BRIO)", ("evidence/information", "the default"), "brio"),
    ("no ranking (MLE)", ("evidence/information", "the default"), "mle"),
    ("a beam above a hot sample (MPO)", ("evidence/information", PAIRS), "mpo"),
    ("SmolLM2: vote, earlier wording", EARLIER, "tuned"),
    ("references' order (BRIO)", EARLIER, "brio"),
    ("no ranking (MLE)", EARLIER, "mle"),
    ("SmolLM2: a beam above a hot sample (MPO)", (SMOLLM2[0], f"SmolLM2, {PAIRS}"), "mpo"),
    ("SmolLM2: nothing, guided", (*SMOLLM2, f"SmolLM2, {PAIRS}"), "guided"),
    ("the same, 3,200 articles", (SMOLLM2[0], "SmolLM2, 3,200 articles"), "guided"),
)
# What is done before an arm decodes, and how it decodes: steps of the costs.
TUNING = ("candidates", "train")
STEPS = {
    "base": ((), "decode, 4 beams"),
    "guided": ((), "guide, 4 beams"),
    "vote": (TUNING, "decode, 4 beams"),
    "both": ((*TUNING, "likelihood"), "decode, 4 beams"),
    "a token": ((*TUNING, "likelihood"), "decode, 4 beams"),
}
PRICED = (
    ("SmolLM2", "evidence/pretrained", "SmolLM2, 800 articles", ("base", "vote", "both")),
    ("SmolLM2 on MTS-Dialog", "evidence/pretrained", "SmolLM2, MTS-Dialog",
     ("base", "guided", "vote", "a token")),
)  # fmt: skip
TUNED_ON = {
    "base": "nothing",
    "guided": "nothing, guided",
    "both": "vote and likelihood",
    "a token": "vote and likelihood a token",
    "random": "shuffled scores",
}
# What was tuned on few documents by one recipe: table, system, setting (None: every one). Runs that
# stand in two tables are counted once.
CHECKED = {
    "small model, 16 worlds and bases": (("study/world", "tuned", None),),
    "the same, the default and its vote": (
        ("evidence/information", "both", "the default"),
        ("evidence/information", "vote", "the default"),
    ),
    "SmolLM2, present wording": (
        ("evidence/pretrained", "both", "SmolLM2, 800 articles"),
        ("evidence/pretrained", "vote", "SmolLM2, 800 articles"),
        ("evidence/pretrained", "both", "SmolLM2, 3,200 articles"),
        ("evidence/pretrained", "vote", "SmolLM2, 3,200 articles"),
    ),
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


def _rows(name: str, *settings: str) -> pd.DataFrame:
    rows = _table(name)
    return rows[rows.setting.isin(settings)]


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
    for label, name, setting, system, way in CASES:
        rows = _rows(name, setting)
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
        rows = _rows(*source)
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


def shorter() -> Iterator[Record]:
    """And if base is decoded as short as beams can?"""
    for label, name, setting, systems in SHORTER:
        rows = _rows(name, setting)
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
        rows = _rows(*source)
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
    for label, name, setting, systems in PRICED:
        rows, spent = _rows(name, setting), minutes(METRICS / f"{name}-costs.csv")[setting]
        for system in systems:
            before, decoding = STEPS[system]
            own = chosen(rows, system, BEAMS)
            yield {
                "model": label,
                "tuned on": _tuned_on(system),
                "minutes to tune on 1,000 documents": f"{sum(spent[step] for step in before):.0f}",
                "to decode 1,000": f"{spent[decoding]:.0f}",
                "unsupported": percent(own),
                "good": percent(own, "good"),
                "ROUGE-1/2": rouge(own),
                "words": f"{own.words.mean():.1f}",
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
    return TUNED_ON.get(system, "vote")


def _less_base(rows: pd.DataFrame, system: str, way: str) -> str:
    """Good summaries of a system minus base's, decoded in the same way; empty if not measured."""
    own = chosen(rows, system, way)
    return _good(own, chosen(rows, "base", way)) if len(own) else ""


def foretells() -> Iterator[Record]:
    """Does the check foretell it?"""
    return _foretold("unsupported")


def foretells_good() -> Iterator[Record]:
    """The same of good summaries."""
    return _foretold("good")


@dataclass(frozen=True)
class Run:
    """What the check said of a run, what was seen, and the numbers behind.

    said and seen: `helps`, `harms`, or `open` if the interval has 0 in it. check: elected - base on
    validation documents; base: its share there; gain: tuned - base on test documents.
    """

    said: str
    seen: str
    check: float
    base: float
    gain: float

    @classmethod
    def of(cls, chain: pd.DataFrame, system: str, decoding: str, mark: str) -> Self:
        """Compare a system with base, decoded in the same way.

        What is elected is elected by the system's own score where that was measured, else by the
        vote.
        """
        before = chosen(chain, "base", decoding, "validation")
        elected = chosen(chain, f"elected by {system}", "", "validation")
        if elected.empty:
            elected = chosen(chain, "elected", "", "validation")
        foretold, after = (
            interval(gaps(own, base, mark))
            for own, base in (
                (elected, before),
                (chosen(chain, system, decoding), chosen(chain, "base", decoding)),
            )
        )
        share = float(np.mean(marks(before, mark)))
        return cls(_sign(foretold, mark), _sign(after, mark), foretold[0], share, after[0])


def _foretold(mark: str) -> Iterator[Record]:
    every: list[Run] = []
    for label, sources in CHECKED.items():
        found = [
            Run.of(chain, system, way, mark)
            for name, system, setting in sources
            for _, chain in by_chain(_table(name) if setting is None else _rows(name, setting))
            for way in (GREEDY, BEAMS)
            if has(chosen(chain, system, way), mark)
        ]
        every += found
        yield {"runs": label} | _told(found)
    yield {"runs": "all"} | _told(every)


def _told(runs: Sequence[Run]) -> Record:
    """What was seen after each verdict, and what goes with the gain.

    The latter are rank correlations (Spearman's) of tuned - base on test documents.
    """
    seen = Counter((run.said, run.seen) for run in runs)
    numbers = pd.DataFrame(runs)[["check", "base", "gain"]].rank().corr()["gain"]
    return {
        f"said {said}: helped, open, harmed": ", ".join(
            str(seen[said, after]) for after in ("helps", "open", "harms")
        )
        for said in ("helps", "open", "harms")
    } | {
        "rank correlation with the check's difference, with base's share": (
            f"{numbers['check']:+.2f}, {numbers['base']:+.2f}"
        )
    }


def _sign(found: tuple[float, float, float], mark: str) -> str:
    _, low, high = found
    fewer, more = ("harms", "helps") if mark == "good" else ("helps", "harms")
    return fewer if high < 0 else more if low > 0 else "open"


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
    for other, table, setting, way in (
        ("vote", "evidence/information", "the default", BEAMS),
        ("vote", "evidence/information", "the default, other kernels", BEAMS),
        ("vote", "evidence/information", "the default", GREEDY),
        ("likelihood", "evidence/information", "the default", BEAMS),
        ("vote", "evidence/pretrained", "SmolLM2, 800 articles", BEAMS),
        ("vote", "evidence/pretrained", "SmolLM2, 800 articles", GREEDY),
        ("vote", "evidence/pretrained", "SmolLM2, 3,200 articles", BEAMS),
    ):
        rows = _rows(table, setting)
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
