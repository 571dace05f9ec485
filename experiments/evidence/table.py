"""The evidence's tables in Markdown, with 95 % bootstrap intervals over seeds and documents."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from experiments.evidence.chain import AT_BASE_LENGTH, BEAMS, ELECTED, cut_to
from experiments.evidence.records import Row
from experiments.study.table import interval, points, share

# What a table calls them, in its order; behind them the others by their own names: numbers of
# documents and candidates.
LABELS = {
    "reference": "reference",
    "base": "base",
    "elected": "elected by the vote, nothing tuned",
    "elected by the reference": "elected by the reference, nothing tuned",
    "tuned": "tuned on the vote alone (alpha 0)",
    "beta 1.25": "the same with beta 1.25",
    "beta 1": "the same with beta 1",
    "anchored": "beta 1.25, anchored at base",
    "anchored, margin .5": "beta 1, anchored at base with a margin of .5",
    "half": "tuned, half of the vote the reference's (alpha N-1)",
    "brio": "tuned on the references' order (BRIO)",
    "mle": "the same steps without a ranking (MLE)",
    "probability": "tuned, votes weighted by probability",
    "checked": "tuned, half of the score the checker's, who judges here (an upper bound)",
    "half, 64 documents": "64 documents, half of the vote the reference's (alpha N-1)",
    "brio, 64 documents": "64 documents, the references' order (BRIO)",
    "ranked, 64 documents": "64 documents, the references taught",
    "ranked, random": "64 documents, the references taught, scores dealt out at random",
    "probability, 64 documents": "64 documents, votes weighted by probability",
    "mle, 64 documents": "64 documents without a ranking (MLE)",
    "random": "the same steps, scores dealt out at random",
    "random, 64 documents": "64 documents, scores dealt out at random",
    "taught": "taught the elected, no ranking",
    "taught, random": "taught a candidate drawn at random, no ranking",
    "anchored, random": "beta 1, anchored with a margin of .5, scores dealt out at random",
}
GREEDY = "greedy"
# What a chain measures before anything is tuned.
UNTUNED = ("base", "reference", *ELECTED)
MEANS = ("words", "r1", "r2")
# Each with the system that took the same steps on scores that say nothing.
TWINS = (
    ("tuned", "random"),
    ("64 documents", "random, 64 documents"),
    ("ranked, 64 documents", "ranked, random"),
    ("anchored, margin .5", "anchored, random"),
    ("taught", "taught, random"),
)
# What the check, which knows of no recipe, is compared with.
FORETOLD = ("tuned", "anchored, margin .5", "64 documents", "300 documents")


def tables(rows: Sequence[Row]) -> list[str]:
    """Everything that the rows of a plan say."""
    if all(row.system in UNTUNED for row in rows):
        return [election_table(rows)]
    return [*main_tables(rows), *control_tables(rows), foretold_table(rows)]


def main_tables(rows: Sequence[Row]) -> list[str]:
    """A table a setting: every system, decoded in every way."""
    return [_main_table(rows, name) for name in dict.fromkeys(row.setting for row in rows)]


def _main_table(rows: Sequence[Row], setting: str) -> str:
    own = [row for row in rows if row.setting == setting]
    base = _chosen(own, "base", GREEDY)
    lines = [
        f"**{setting}**: {len(base)} seeds x {len(base[0].flags):,} test documents",
        "",
        "| system | decoded | unsupported | minus base | mentions per 100 words | words "
        "| well-formed | and supported | ROUGE-1/2 | at base's length, minus base "
        "| minus base at its length | minus base cut to its words |",
        "|---" * 12 + "|",
    ]
    others = {row.system for row in own} - LABELS.keys()
    systems = [*LABELS, *sorted(others, key=_by_number)]
    for system in systems:
        written = [row for row in own if row.system == system and not row.fitted]
        for decoding in dict.fromkeys(row.decoding for row in written):
            found = _chosen(own, system, decoding)
            compared = _chosen(own, "base", decoding or GREEDY)
            words, r1, r2 = _means(found)
            matched = [""] * 3
            if decoding == BEAMS and system not in ("base", "reference"):
                matched = [
                    difference(_chosen(own, system, AT_BASE_LENGTH), compared),
                    difference(found, _chosen(own, "base", f"{BEAMS} at {system}'s length")),
                    difference(found, _chosen(own, "base", cut_to(system))),
                ]
            few = f" ({len(found)} of {len(base)} seeds)" if len(found) < len(base) else ""
            cells = [
                LABELS.get(system, system) + few,
                decoding,
                share(found),
                "" if system == "base" else difference(found, compared),
                f"{_per_100_words(found):.2f}",
                f"{words:.1f}",
                _formed(found),
                share(found, "supported_sentence") if _formed(found) else "",
                "" if system == "reference" else f"{r1:.1f}/{r2:.1f}",
                *matched,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def control_tables(rows: Sequence[Row]) -> list[str]:
    """What is the vote's: systems against the same steps on scores dealt out at random, over the
    seeds that have both; nothing where no system has such a twin."""
    lines = []
    for setting, (system, twin) in product(dict.fromkeys(row.setting for row in rows), TWINS):
        own = [row for row in rows if row.setting == setting]
        for decoding in (GREEDY, BEAMS, AT_BASE_LENGTH):
            pairs = _pairs(*(_chosen(own, name, decoding) for name in (system, twin)))
            if not pairs:
                continue
            sides: list[Sequence[Row]] = [list(side) for side in zip(*pairs, strict=True)]
            means = [_means(side) for side in sides]
            cells = [setting, LABELS.get(system, system), f"{len(pairs)}", decoding]
            cells += [*map(share, sides), points(_gaps(pairs))]
            cells += [f"{vote:.1f}, {chance:.1f}" for vote, chance in zip(*means, strict=True)]
            form = ["", ""]
            if all(map(_formed, sides)):
                marks = [[row.supported_sentence for row in side] for side in sides]
                both = ", ".join(
                    f"{100 * np.mean([one.mean() for one in each]):.1f} %" for each in marks
                )
                gain = points([vote - chance for vote, chance in zip(*marks, strict=True)])
                form = [", ".join(map(_formed, sides)), f"{both}: {gain}"]
            lines.append(f"| {' | '.join([*cells, *form])} |")
    head = (
        "| setting | system | seeds | decoded | by the vote | by chance | vote - chance "
        "| words of both | ROUGE-1 of both | ROUGE-2 of both | well-formed of both "
        "| and supported, vote - chance |"
    )
    return ["\n".join([head, "|---" * 12 + "|", *lines])] if lines else []


def foretold_table(rows: Sequence[Row]) -> str:
    """A row a chain, what was tuned and a way to decode: what electing foretold on validation
    documents, and what tuning then did."""
    lines = [
        "| setting | seed | system | decoded | elected - base, validation | foretold "
        "| system - base, test | seen | right |",
        "|---" * 9 + "|",
    ]
    places = dict.fromkeys((row.setting, row.seed) for row in rows)
    for (setting, seed), system, decoding in product(places, FORETOLD, (GREEDY, BEAMS)):
        own = [row for row in rows if (row.setting, row.seed) == (setting, seed)]
        base, elected = (
            _chosen(own, *named, "validation") for named in (("base", decoding), ("elected", ""))
        )
        after, tuned = (_chosen(own, name, decoding) for name in ("base", system))
        if not tuned:
            continue
        foretold, seen = _sign(elected, base), _sign(tuned, after)
        right = "" if "open" in (foretold, seen) else "yes" if foretold == seen else "no"
        cells = [setting, f"{seed}", system, decoding, difference(elected, base), foretold]
        lines.append(f"| {' | '.join([*cells, difference(tuned, after), seen, right])} |")
    return "\n".join(lines)


def election_table(rows: Sequence[Row]) -> str:
    """A row a setting in which nothing is tuned: what electing does to base's own greedy output.

    Settings are chosen on validation documents; the test documents show whether a choice holds.
    """
    lines = [
        "| candidates | base's own, validation | elected | elected - base | base's own, test "
        "| elected | elected - base |",
        "|---" * 7 + "|",
    ]
    for setting in dict.fromkeys(row.setting for row in rows):
        own = [row for row in rows if row.setting == setting]
        cells = [setting]
        for split in ("validation", "test"):
            base, elected = (
                _chosen(own, *named, split) for named in (("base", GREEDY), ("elected", ""))
            )
            cells += [share(base), share(elected), difference(elected, base)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _sign(first: Sequence[Row], second: Sequence[Row]) -> str:
    _, low, high = interval(_gaps(_pairs(first, second)))
    return "helps" if high < 0 else "harms" if low > 0 else "open"


def difference(first: Sequence[Row], second: Sequence[Row]) -> str:
    """First minus second in points of unsupported summaries, paired by document; over the seeds
    that have both. Empty where nobody measured one of them."""
    if not (first and second):
        return ""
    pairs = _pairs(first, second)
    # A row without documents says so; a seed without a row was not run.
    missing = len({row.seed for row in (*first, *second) if not row.unsupported})
    told = [points(_gaps(pairs))] if pairs else []
    return ", ".join([*told, *([f"out of reach for {missing}"] if missing else [])])


def _gaps(pairs: Sequence[tuple[Row, Row]]) -> list[NDArray[np.float64]]:
    return [first.flags - second.flags for first, second in pairs]


def _pairs(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    others = {row.seed: row for row in second if row.unsupported}
    return [(row, others[row.seed]) for row in first if row.unsupported and row.seed in others]


def _means(found: Sequence[Row]) -> tuple[float, float, float]:
    """Words and ROUGE-1/2, mean over seeds."""
    words, r1, r2 = (float(np.mean([getattr(row, key) for row in found])) for key in MEANS)
    return words, r1, r2


def _formed(found: Sequence[Row]) -> str:
    """The share of summaries that are sentences of the world's grammar, where that was measured."""
    if not all(row.fluency for row in found):
        return ""
    return f"{100 * np.mean([row.well_formed.mean() for row in found]):.0f} %"


def _by_number(system: str) -> tuple[str, int]:
    first, *rest = system.split()
    return (" ".join(rest), int(first)) if first.isdigit() else (system, 0)


def _per_100_words(rows: Sequence[Row]) -> float:
    """Unsupported mentions in 100 words, over all documents."""
    said = sum(row.counts.sum() for row in rows)
    return float(100 * said / sum(row.words * len(row.counts) for row in rows))


def _chosen(rows: Sequence[Row], system: str, decoding: str, split: str = "test") -> list[Row]:
    """The rows of a system, seed by seed."""
    wanted = (system, decoding, split)
    found = [row for row in rows if (row.system, row.decoding, row.split) == wanted]
    return sorted(found, key=lambda row: row.seed)
