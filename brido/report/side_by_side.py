"""Two systems' summaries of the same documents side by side: what differs, what is unsupported."""

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

from brido.checkers.mentions import mentions_of
from brido.report.display import ColumnKey, display
from brido.report.metrics import read_scores
from brido.tables import CORPUS, DECODED, read_rows
from brido.tables.join import decoded_by
from brido.utils.errors import BridoError

_TEMPLATE = "side_by_side.jinja"
_WORD = re.compile(r"\S+")


class Piece(NamedTuple):
    """A part of a text. changed: the other system's text lacks it; unsupported: the document."""

    text: str
    changed: bool
    unsupported: bool


@dataclass(frozen=True)
class Side:
    """One system's summary of a document. quality: what decides the choice, NaN if unknown."""

    system: str
    text: str
    pieces: list[Piece]
    unsupported: int
    quality: float


@dataclass(frozen=True)
class Pair:
    """A document with two summaries. gain: how much better the second is, for the order."""

    id: str
    document: str
    first: Side
    second: Side
    gain: tuple[float, int]


def pairs(
    data: Path,
    systems: tuple[str, str],
    case_sensitive: bool,
    by: ColumnKey | None = None,
    variants: Container[str] = (),
) -> list[Pair]:
    """The test documents of which two systems wrote different summaries.

    data: the folder of the pipeline's tables. case_sensitive: see `evaluation.mentions`. by: a
    column of the evaluation; the gain is its difference, and behind it the number of unsupported
    mentions that went. variants: the keys of section variants, for messages.

    Raises:
        BridoError: a table is missing or damaged, or holds other documents.
    """
    corpus = read_rows(data / "corpus/test.parquet", CORPUS, "download")
    stages = [decoded_by(system, variants) for system in systems]
    texts = [_summaries(data, *both, corpus) for both in zip(systems, stages, strict=True)]
    quality = [_quality(data, system, by) for system in systems]
    better = -1.0 if by and display(*by).better == "lower" else 1.0
    found = []
    for row, first, second in zip(corpus, *texts, strict=True):
        if first == second:
            continue
        sides = []
        changes = _changes(first, second)
        for system, text, changed, own in zip(
            systems, (first, second), changes, quality, strict=True
        ):
            mentions = mentions_of(row["document"], text, row.get("facts"), case_sensitive)
            unsupported = [range(each.start, each.end) for each in mentions if not each.supported]
            pieces = list(_pieces(text, changed, unsupported))
            value = own.get(row["id"], math.nan)
            sides.append(Side(system, text, pieces, len(unsupported), value))
        gain = better * (sides[1].quality - sides[0].quality)
        fewer = sides[0].unsupported - sides[1].unsupported
        order = (0.0 if math.isnan(gain) else gain, fewer)
        found.append(Pair(row["id"], row["document"], sides[0], sides[1], order))
    return found


def most_changed(found: Sequence[Pair], count: int) -> tuple[list[Pair], list[Pair]]:
    """The most improved and the most damaged documents, at most `count` together.

    Half of them are damaged if there are as many; the first document comes first among equals.
    """
    ordered = sorted(found, key=lambda pair: pair.gain, reverse=True)
    improved = [pair for pair in ordered if pair.gain > (0.0, 0)]
    damaged = [pair for pair in sorted(found, key=lambda pair: pair.gain) if pair.gain < (0.0, 0)]
    half = max(count - len(improved), count // 2)
    shown = damaged[:half]
    return improved[: count - len(shown)], shown


def _summaries(
    data: Path, system: str, stage: str, corpus: Sequence[Mapping[str, Any]]
) -> list[str]:
    path = data / "decoded" / system / "test.parquet"
    rows = read_rows(path, DECODED, stage)
    if [row["id"] for row in rows] != [row["id"] for row in corpus]:
        raise BridoError(
            f"{path} holds other documents than the corpus: make it again with `dvc repro {stage}`"
        )
    return [row["summary"] for row in rows]


def _quality(data: Path, system: str, by: ColumnKey | None) -> dict[str, float]:
    """The number that decides, by document; empty where it was not measured."""
    if by is None:
        return {}
    path = data / "evaluation" / system / "test.parquet"
    if not path.is_file():
        return {}
    scores = read_scores(path)
    if by not in scores.columns:
        return {}
    return dict(zip(scores.ids, scores.column(by).tolist(), strict=True))


def _changes(first: str, second: str) -> tuple[list[range], list[range]]:
    """Of each text the places of the words that the other one lacks there."""
    words = [list(_WORD.finditer(text)) for text in (first, second)]
    before, after = ([word.group() for word in own] for own in words)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    places: tuple[list[range], list[range]] = ([], [])
    for kind, *ends in matcher.get_opcodes():
        if kind != "equal":
            for side, (start, end) in enumerate((ends[:2], ends[2:])):
                places[side].extend(range(*word.span()) for word in words[side][start:end])
    return places


def _pieces(text: str, changed: Sequence[range], unsupported: Sequence[range]) -> Iterator[Piece]:
    """The text, cut wherever a mark begins or ends."""
    ends = {
        0,
        len(text),
        *(end for span in (*changed, *unsupported) for end in (span.start, span.stop)),
    }
    ordered = sorted(ends)
    for start, stop in pairwise(ordered):
        marks = (any(start in span for span in spans) for spans in (changed, unsupported))
        yield Piece(text[start:stop], *marks)


def as_html(
    systems: tuple[str, str], by: ColumnKey | None, groups: Mapping[str, Sequence[Pair]]
) -> str:
    """A page of its own without scripts; the texts of strangers stay texts."""
    folder = resources.files(__package__)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(folder.joinpath(_TEMPLATE).read_text("utf-8"))
    column = "" if by is None else f"{by[0]} {display(*by).label}"
    return template.render(systems=systems, column=column, groups=groups, number=number)


def number(value: float) -> str:
    """A quality as it is shown; a dash where it was not measured."""
    return "–" if math.isnan(value) else f"{value:g}"
