"""What blind readers found in summaries of real text: tables of docs/results.md and its details."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from experiments import reading
from experiments.numbers import clear
from experiments.rows import EVIDENCE
from experiments.tables import Record

# Where the readings of each text stand: of the planned runs, a folder a run; a further sheet of a
# run, with other systems, has a name that goes on behind the seed.
READINGS = {
    "talks": ("talks-seed-10", "talks-seed-11"),
    "abstracts": ("abstracts-seed-10",),
    "packages": ("packages-seed-10", "packages-seed-10-lengths"),
}
# And of an earlier run, in which a length penalty made tuned systems as long as base.
EARLIER = {
    "talks": ("information-equal-length-seed-3",),
    "abstracts": ("scitldr-equal-length-seed-3",),
}
# The systems in the table's order, by their names in the readings.
SYSTEMS = {
    "base": "base",
    "vote": "vote",
    "vote_long": "vote, base's length",
    "information": "information",
    "information_long": "information, base's length",
    "a token": "likelihood",
    "likelihood": "likelihood",
    "guided": "guided",
    "short": "short",
    "control": "control",
    "control_long": "control, base's length",
    "random": "control",
}


def readers() -> Iterator[Record]:
    """Of each text, summaries with something made up in per cent, beside base's; their words."""
    found: dict[str, Record] = {}
    for row in _read(READINGS):
        gap = f" (base {row['base']}: {row['minus base']})" if row["base"] else ""
        cell = f"{row['made up']}{gap}, {row['words']} words"
        found.setdefault(row["system"], {})[row["text"]] = cell
    for system in dict.fromkeys(SYSTEMS.values()):
        yield {"system": system, **dict.fromkeys(READINGS, ""), **found[system]}


def readers_in_full() -> Iterator[Record]:
    """The same with all that was counted, a row a text and system."""
    yield from _read(READINGS)


def readers_earlier() -> Iterator[Record]:
    """The same of earlier runs, at base's length."""
    yield from _read(EARLIER)


def _read(readings: Mapping[str, Sequence[str]]) -> Iterator[Record]:
    for text, folders in readings.items():
        sheets = {folder: reading.read(EVIDENCE / "readings" / folder) for folder in folders}
        for name in SYSTEMS:
            # A sheet has the systems that its run had by then.
            shown = {folder: sheet for folder, sheet in sheets.items() if name in sheet}
            if own := [(*sheet[name], sheet["base"][0]) for sheet in shown.values()]:
                flags, statements, measures, base = zip(*own, strict=True)
                summaries = dict(zip(map(_run_of, shown), map(len, flags), strict=True))
                words = np.mean([one["words"] for one in measures])
                copied = np.mean([one["copied"] for one in measures])
                gaps = [mine - its for mine, its in zip(flags, base, strict=True)]
                yield {
                    "text": text,
                    "system": SYSTEMS[name],
                    "summaries": f"{sum(summaries.values())}",
                    "made up": _percent(flags),
                    # Base's, as it was found on the same sheets.
                    "base": "" if name == "base" else _percent(base),
                    "minus base": "" if name == "base" else clear(gaps),
                    "statements in 100 words": f"{100 * np.mean(statements) / words:.1f}",
                    "words": f"{words:.1f}",
                    "copied": f"{100 * copied:.0f}",
                }


def _percent(flags: Sequence[NDArray[np.float64]]) -> str:
    return f"{100 * np.mean([one.mean() for one in flags]):.1f}"


def _run_of(folder: str) -> str:
    """The run that a sheet was drawn from."""
    return re.sub(r"(-seed-\d+).*", r"\1", folder)
