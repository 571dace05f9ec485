"""Tables of studies in Markdown, with 95 % bootstrap intervals over seeds and documents."""

from collections.abc import Iterable, Sequence
from itertools import groupby, product
from typing import Any

import numpy as np
import pandas as pd

from experiments.numbers import (
    chosen,
    difference,
    formed,
    gaps,
    interval,
    pairs,
    per_100_words,
    percent,
    points,
    rouge,
    share,
    words,
)
from experiments.plan import AT_BASE_LENGTH, BEAMS, ELECTED, cut_to
from experiments.rows import Row

# The name and the order of systems in a table. Others follow: numbers of documents and candidates.
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
    "probability": "tuned, votes weighted by probability (removed in version 0.3)",
    "checked": "tuned, half of the score the checker's, who judges here (an upper bound)",
    "half, 64 documents": "64 documents, half of the vote the reference's (alpha N-1)",
    "brio, 64 documents": "64 documents, the references' order (BRIO)",
    "ranked, 64 documents": "64 documents, the references taught",
    "ranked, random": "64 documents, the references taught, scores shuffled",
    "mle, 64 documents": "64 documents without a ranking (MLE)",
    "random": "the same steps, scores shuffled (the control)",
    "random, 64 documents": "64 documents, scores shuffled (the control)",
    "taught": "taught the elected, no ranking",
    "taught, random": "taught a candidate drawn at random, no ranking",
    "anchored, random": "beta 1, anchored with a margin of .5, scores shuffled",
}
GREEDY = "greedy"
# What a chain measures before anything is tuned.
UNTUNED = ("base", "reference", *ELECTED)
# Each with its control: the same steps on shuffled scores.
TWINS = (
    ("tuned", "random"),
    ("64 documents", "random, 64 documents"),
    ("ranked, 64 documents", "ranked, random"),
    ("anchored, margin .5", "anchored, random"),
    ("taught", "taught, random"),
)
# The check knows no recipe; these are compared with it.
FORETOLD = ("tuned", "anchored, margin .5", "64 documents", "300 documents")


def tables(rows: Sequence[Row]) -> list[str]:
    """All tables of a plan's rows: settings, then systems, controls and chains where measured."""
    found = [settings_table(rows)]
    for setting, own in _by_setting(rows):
        found.append(f"**{setting}**: {_size(own)}\n\n{markdown(systems_table(own))}")
    if {row.system for row in rows} & {twin for _, twin in TWINS}:
        found.append(f"Against the control:\n\n{markdown(control_table(rows))}")
    if any(row.system not in UNTUNED for row in rows):
        found.append(f"Chain by chain:\n\n{markdown(chains_table(rows))}")
    return found


def markdown(records: Iterable[dict[str, Any]]) -> str:
    """Records as a Markdown table without its empty columns."""
    frame = pd.DataFrame(list(records)).fillna("")
    frame = frame.loc[:, (frame != "").any() | (np.arange(len(frame.columns)) == 0)]
    return frame.to_markdown(index=False, disable_numparse=True)


def settings_table(rows: Sequence[Row]) -> str:
    """A row for each setting: what electing does to base's own output, and what tuning then did."""
    records = []
    for setting, own in _by_setting(rows):
        way = usual(own)
        base, tuned = chosen(own, "base", way), chosen(own, "tuned", way)
        validation = [chosen(own, *key, "validation") for key in (("elected", ""), ("base", way))]
        record = {
            "setting": setting,
            "seeds": f"{len(base)}",
            "decoded": way,
            "base, validation": share(validation[1]),
            "elected - base, validation": difference(*validation),
            "base, test": percent(base),
            "elected - base, test": difference(chosen(own, "elected"), base),
        }
        names = ("elected", "elected by the reference", "tuned", "brio", "mle", "random")
        for name in names:
            found = chosen(own, name, "" if name in ELECTED else way)
            record[name] = percent(found) if found else ""
        if tuned:
            record |= {
                "words, base -> tuned": f"{words(base):.1f} -> {words(tuned):.1f}",
                "tuned - base": difference(tuned, base),
                "at base's length": difference(chosen(own, "tuned", AT_BASE_LENGTH), base),
                "against base at tuned's length": difference(
                    tuned, chosen(own, "base", f"{BEAMS} at tuned's length")
                ),
            }
        records.append(record)
    return markdown(records)


def systems_table(own: Sequence[Row]) -> Iterable[dict[str, Any]]:
    """A row for each system of one setting and each way to decode it."""
    seeds = len(chosen(own, "base", usual(own)))
    # Older rows say of a document only whether anything was unsupported.
    counted = any(digit > "1" for row in own for digit in row.unsupported)
    others = {row.system for row in own} - LABELS.keys()
    for system in [*LABELS, *sorted(others, key=_by_number)]:
        written = [row for row in own if row.system == system and not row.fitted]
        for decoding in dict.fromkeys(row.decoding for row in written):
            found = chosen(own, system, decoding)
            base = chosen(own, "base", decoding or _first(own))
            good = points(gaps(pairs(found, base), "good")) if formed(found) and base else ""
            few = f" ({len(found)} of {seeds} seeds)" if len(found) < seeds else ""
            record = {
                "system": LABELS.get(system, system) + few,
                "decoded": decoding,
                "unsupported": share(found),
                "minus base": "" if system == "base" else difference(found, base),
                "mentions per 100 words": f"{per_100_words(found):.2f}" if counted else "",
                "words": f"{words(found):.1f}",
                "well-formed": formed(found),
                "and supported": share(found, "good") if formed(found) else "",
                "and supported, minus base": good if system != "base" else "",
                "ROUGE-1/2": "" if system == "reference" else rouge(found),
            }
            if decoding == BEAMS and system not in ("base", "reference"):
                equal = chosen(own, system, AT_BASE_LENGTH)
                same = chosen(own, "base", f"{BEAMS} at {system}'s length")
                record |= {
                    "at base's length": share(equal) if all(r.unsupported for r in equal) else "",
                    "at base's length, minus base": difference(equal, base),
                    "minus base at its length": difference(found, same),
                    "minus base cut to its words": difference(
                        found, chosen(own, "base", cut_to(system))
                    ),
                }
            yield record


def control_table(rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
    """What the vote does: systems against the same steps on shuffled scores.

    Over the seeds that have both.
    """
    ways = (GREEDY, BEAMS, AT_BASE_LENGTH)
    for (setting, own), twins, decoding in product(_by_setting(rows), TWINS, ways):
        found = pairs(*(chosen(own, name, decoding) for name in twins))
        if not found:
            continue
        sides = [list(side) for side in zip(*found, strict=True)]
        record = {
            "setting": setting,
            "system": LABELS.get(twins[0], twins[0]),
            "seeds": f"{len(found)}",
            "decoded": decoding,
            "by the vote": share(sides[0]),
            "shuffled": share(sides[1]),
            "vote - shuffled": points(gaps(found)),
            "words of both": ", ".join(f"{words(side):.1f}" for side in sides),
            "ROUGE-1/2 of both": ", ".join(map(rouge, sides)),
        }
        if all(map(formed, sides)):
            record["well-formed of both"] = ", ".join(map(formed, sides))
            record["and supported of both"] = ", ".join(percent(side, "good") for side in sides)
            record["and supported, vote - shuffled"] = points(gaps(found, "good"))
        yield record


def chains_table(rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
    """A row for each chain, tuned system and decoding: what the check said, what tuning did."""
    for (setting, own), system in product(_by_setting(rows), FORETOLD):
        for seed, decoding in product(_seeds(own), dict.fromkeys((_first(own), BEAMS))):
            chain = [row for row in own if row.seed == seed]
            base, tuned = chosen(chain, "base", decoding), chosen(chain, system, decoding)
            if not tuned:
                continue
            foretold, seen = verdict(chain, system, decoding)
            before = chosen(chain, "base", decoding, "validation")
            open_ = "open" in (foretold, seen)
            equal = chosen(chain, system, AT_BASE_LENGTH) if decoding == BEAMS else []
            yield {
                "setting": setting,
                "seed": f"{seed}",
                "system": system,
                "decoded": decoding,
                "elected - base, validation": difference(
                    chosen(chain, "elected", "", "validation"), before
                ),
                "foretold": foretold,
                "base, test": percent(base),
                "system, test": percent(tuned),
                "system - base": difference(tuned, base),
                "seen": seen,
                "right": "" if open_ else "yes" if foretold == seen else "no",
                "words": f"{words(base):.1f} -> {words(tuned):.1f}",
                "at base's length - base": difference(equal, base),
            }


def verdict(chain: Sequence[Row], system: str, decoding: str) -> tuple[str, str]:
    """What electing foretold on validation documents, and what tuning did on test documents.

    Each `helps`, `harms`, or `open` if the interval has 0 in it.
    """
    before = chosen(chain, "base", decoding, "validation")
    after = chosen(chain, "base", decoding)
    elected = chosen(chain, "elected", "", "validation")
    return _sign(elected, before), _sign(chosen(chain, system, decoding), after)


def _sign(first: Sequence[Row], second: Sequence[Row]) -> str:
    _, low, high = interval(gaps(pairs(first, second)))
    return "helps" if high < 0 else "harms" if low > 0 else "open"


def usual(rows: Iterable[Row]) -> str:
    """The decoding that a table of settings compares: beams if they were measured."""
    found = [row.decoding for row in rows if row.system == "base"]
    return BEAMS if BEAMS in found else found[0]


def _first(rows: Iterable[Row]) -> str:
    """The plan's first decoding, with which the elected are compared."""
    return next(row.decoding for row in rows if row.system == "base" and not row.fitted)


def _by_setting(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    names = {name: index for index, name in enumerate(dict.fromkeys(row.setting for row in rows))}
    ordered = sorted(rows, key=lambda row: names[row.setting])
    return [(name, list(own)) for name, own in groupby(ordered, lambda row: row.setting)]


def _seeds(rows: Iterable[Row]) -> list[int]:
    return sorted({row.seed for row in rows})


def _size(own: Sequence[Row]) -> str:
    base = chosen(own, "base", usual(own))
    return f"{len(base)} seeds x {len(base[0].flags):,} test documents"


def _by_number(system: str) -> tuple[str, int]:
    first, *rest = system.split()
    return (" ".join(rest), int(first)) if first.isdigit() else (system, 0)
