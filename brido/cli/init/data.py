"""What a user's files hold, found with the code that the pipeline reads them with."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.corpus.checks import SplitChecks
from brido.corpus.files import FilesSource, find_files
from brido.corpus.settings import FilesSettings
from brido.utils.errors import BridoError
from brido.utils.files import read_file

SPLITS = ("train", "validation", "test")
# Usual names of such columns, the likeliest first.
DOCUMENTS = (
    *("document", "article", "text", "dialogue", "dialog", "source", "body", "content"),
    "abstract",
)
_SUMMARIES = ("summary", "highlights", "target", "abstract", "tldr", "headline", "title", "note")
# So many documents show how long they are.
_SAMPLE = 1000
# Up to so many rows of train this share of them is cut off for each split without files.
_SHARES = ((500, 0.2), (20_000, 0.1), (math.inf, 0.05))
# Rows that the check wants for a verdict, and the largest share of few rows that it gets.
_WANTED, _MOST = 50, 0.4
# Documents that a split needs, and rows of train from which each split is likely to get them.
_FEWEST, _ENOUGH = 4, 40
# A larger share of bad rows is a mistake, not an accident.
MOST_BAD = 0.05
# Keys that messages call what the command line calls them.
_OPTIONS = re.compile(r"data\.files\.(train|validation|test|(?:document|summary)_column)\b")


@dataclass(frozen=True)
class Data:
    """`data.files` for the user's files, and what is in them.

    documents: good rows of each split, as the pipeline will cut them; bad: what is wrong with the
    others. texts, summaries: of the first documents of train (no summaries: no references).
    """

    files: dict[str, Any]
    documents: dict[str, int]
    bad: list[str]
    texts: list[str]
    summaries: list[str]


def look(
    files: Mapping[str, Sequence[str]], document: str | None = None, summary: str | None = None
) -> Data:
    """Read the files of `split -> paths or globs`; train must be there.

    document, summary: their columns, None: the first usual name; summary "none": no references.

    Raises:
        BridoError: no such file, an unreadable or empty one, a missing column, hardly any good row.
    """
    given = {split: list(files[split]) for split in SPLITS if files.get(split)}
    columns, rows = _columns(find_files("data.files.train", given["train"], []))
    settings: dict[str, Any] = {**given, **_named(columns, document, summary)}
    # Of few documents a larger share, so that there is something to measure on.
    share = next(part for most, part in _SHARES if rows <= most)
    checked = max(share, round(min(_MOST, _WANTED / max(rows, 1)), 2))
    settings |= {"validation_fraction": checked, "test_fraction": share}
    source = _source(settings)
    found: dict[str, int] = {}
    bad: list[str] = []
    texts: list[str] = []
    summaries: list[str] = []
    for split in SPLITS:
        checks = SplitChecks(split, False, MOST_BAD)
        for row in checks.keep_good(source.rows(split)):
            if split == "train" and checks.kept <= _SAMPLE:
                texts.append(row["document"])
                summaries += [row["summary"]] if row["summary"] else []
        found[split] = checks.kept
        if checks.bad and (problem := checks.problem()):
            raise BridoError(problem)
        bad += [f"{split}: {checks.left_out()}"] if checks.bad else []
    if min(found.values()) < _FEWEST:
        raise BridoError(_too_few(found, given))
    return Data(settings, found, bad, texts, summaries)


def _too_few(found: Mapping[str, int], given: Mapping[str, Any]) -> str:
    """Which splits are too small, and what helps."""
    small = [f"{split} {count}" for split, count in found.items() if count < _FEWEST]
    told = f"each split needs at least {_FEWEST} documents, but there are {', '.join(small)}. "
    if cut := [split for split in SPLITS if split not in given]:
        files = " and ".join(f"--{split}" for split in cut)
        return told + (
            f"Give --train at least {_ENOUGH} rows, from which {' and '.join(cut)} can be cut, or "
            f"name files with {files}"
        )
    options = " and ".join(f"--{text.split()[0]}" for text in small)
    return told + f"Name files with more rows for {options}"


def _named(columns: list[str], document: str | None, summary: str | None) -> dict[str, str | None]:
    """The columns of documents, summaries and further references."""
    text = document or next((name for name in DOCUMENTS if name in columns), DOCUMENTS[0])
    if summary == "none":
        return {"document_column": text, "summary_column": None}
    usual = (name for name in _SUMMARIES if name in columns and name != text)
    further = {"references_column": "references"} if "references" in columns else {}
    return {
        "document_column": text,
        "summary_column": summary or next(usual, _SUMMARIES[0]),
        **further,
    }


def _source(settings: Mapping[str, Any]) -> FilesSource:
    """The files; what is wrong with them is told by the names of the options."""
    try:
        return FilesSource(FilesSettings(**settings))
    except BridoError as error:
        without = "(if there are no summaries, add --summary-column none)"
        text = str(error).replace("(null: there are no references)", without)
        told = _OPTIONS.sub(lambda key: f"--{key[1].replace('_', '-')}", text)
        raise BridoError(told.replace("the files of data.files", "the files")) from None


def _columns(paths: Sequence[Path]) -> tuple[list[str], int]:
    """The columns of the first file, and how many rows all of them have."""
    columns: list[str] = []
    count = 0
    for path in paths:
        for _, row in read_file(path):
            columns = columns or list(row)
            count += 1
    return columns, count
