"""What blind readers found in summaries of real text: the table of docs/results.md."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from experiments import reading
from experiments.numbers import clear
from experiments.rows import EVIDENCE
from experiments.tables import Record

# Where the readings of each text stand: of the planned runs, a folder a run.
READINGS = {
    "talks": ("talks-seed-10", "talks-seed-11"),
    "abstracts": ("abstracts-seed-10",),
    "packages": ("packages-seed-10",),
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
    "a token": "likelihood",
    "likelihood": "likelihood",
    "guided": "guided",
    "short": "short",
    "control": "control",
    "control_long": "control, base's length",
    "random": "control",
}


def readers() -> Iterator[Record]:
    """Summaries with something made up, in per cent, and how long they are."""
    yield from _read(READINGS)


def readers_earlier() -> Iterator[Record]:
    """The same of earlier runs, at base's length."""
    yield from _read(EARLIER)


def _read(readings: Mapping[str, Sequence[str]]) -> Iterator[Record]:
    for text, folders in readings.items():
        runs = [reading.read(EVIDENCE / "readings" / folder) for folder in folders]
        for name in SYSTEMS:
            # A run's readers read the systems that it has.
            if own := [(*run[name], run["base"][0]) for run in runs if name in run]:
                flags, statements, measures, base = zip(*own, strict=True)
                words = np.mean([one["words"] for one in measures])
                copied = np.mean([one["copied"] for one in measures])
                gaps = [mine - its for mine, its in zip(flags, base, strict=True)]
                yield {
                    "text": text,
                    "system": SYSTEMS[name],
                    "summaries": f"{sum(map(len, flags))}",
                    "made up": f"{100 * np.mean([one.mean() for one in flags]):.1f}",
                    "minus base": "" if name == "base" else clear(gaps),
                    "statements in 100 words": f"{100 * np.mean(statements) / words:.1f}",
                    "words": f"{words:.1f}",
                    "copied": f"{100 * copied:.0f}",
                }
