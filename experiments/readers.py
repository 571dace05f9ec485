"""What blind readers found in summaries of real text: the table of docs/results.md."""

from collections.abc import Iterator, Mapping

from experiments import reading
from experiments.numbers import clear
from experiments.rows import EVIDENCE
from experiments.tables import Record

# Where each reading stands: of the planned runs, the systems at their own lengths.
READINGS = {"talks": "talks-seed-10", "abstracts": "abstracts-seed-10"}
# And of an earlier run, in which a length penalty made tuned systems as long as base.
EARLIER = {
    "talks": "information-equal-length-seed-3",
    "abstracts": "scitldr-equal-length-seed-3",
}
# The systems in the table's order, by their names in the readings.
SYSTEMS = {
    "base": "base",
    "vote": "vote",
    "information": "information",
    "a token": "likelihood",
    "likelihood": "likelihood",
    "guided": "guided",
    "short": "short",
    "control": "control",
    "random": "control",
}


def readers() -> Iterator[Record]:
    """Summaries with something made up, in per cent, and how long they are."""
    yield from _read(READINGS)


def readers_earlier() -> Iterator[Record]:
    """The same of earlier runs, at base's length."""
    yield from _read(EARLIER)


def _read(readings: Mapping[str, str]) -> Iterator[Record]:
    for text, folder in readings.items():
        own = reading.read(EVIDENCE / "readings" / folder)
        for name in (name for name in SYSTEMS if name in own):
            flags, statements, measures = own[name]
            yield {
                "text": text,
                "system": SYSTEMS[name],
                "made up": f"{100 * flags.mean():.1f}",
                "minus base": "" if name == "base" else clear([flags - own["base"][0]]),
                "statements in 100 words": f"{100 * statements / measures['words']:.1f}",
                "words": f"{measures['words']:.1f}",
                "copied": f"{100 * measures['copied']:.0f}",
            }
