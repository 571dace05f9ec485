"""What a user's files hold, found with the code that the pipeline reads them with."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.corpus.checks import SplitChecks
from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesSettings
from brido.utils.errors import BridoError, quoted, some
from brido.utils.files import read_file

SPLITS = ("train", "validation", "test")
# Usual names of such columns, the likeliest first.
DOCUMENTS = (
    "document",
    "article",
    "text",
    "dialogue",
    "dialog",
    "source",
    "body",
    "content",
    "abstract",
)
SUMMARIES = ("summary", "highlights", "target", "abstract", "tldr", "headline", "title", "note")
# So many documents show how long they are.
_SAMPLE = 1000
# Up to so many rows of train this share of them is cut off for each split without files.
_SHARES = ((500, 0.2), (20_000, 0.1), (math.inf, 0.05))
# Rows that the check wants for a verdict, and the largest share of few rows that it gets.
_WANTED, _MOST = 50, 0.4
# A larger share of bad rows is a mistake, not an accident.
_MOST_BAD = 0.05


@dataclass(frozen=True)
class Data:
    """`data.files` for the user's files, and what is in them.

    documents: good rows of each split, as the pipeline will cut them; bad: what is wrong with the
    others; bad_fraction: the largest share of them in a split. texts, summaries: of the first
    documents of train (no summaries: no references).
    """

    files: dict[str, Any]
    documents: dict[str, int]
    bad: list[str]
    bad_fraction: float
    texts: list[str]
    summaries: list[str]


# Keys that messages call what the command line calls them.
_OPTIONS = re.compile(r"data\.files\.(train|validation|test|(?:id|document|summary)_column)\b")


def look(files: dict[str, Sequence[str]], names: Mapping[str, str | None]) -> Data:
    """Read the files of `split -> paths or globs`; train must be there.

    names: columns of `id`, `document` and `summary`, None: the usual ones; summary "none": no
    references.

    Raises:
        BridoError: no such file, an unreadable or empty one, no column for documents or summaries,
            hardly any good row.
    """
    columns, rows = _columns(FilesSettings(train=list(files["train"])))
    given = {split: _paths(files[split]) for split in SPLITS if files.get(split)}
    settings: dict[str, Any] = dict.fromkeys(SPLITS) | given
    text = _choose(columns, names["document"], DOCUMENTS, "document")
    summary = names["summary"]
    others = [column for column in columns if column != text]
    labelled = "references" in columns and summary != "none"
    settings |= {
        "document_column": text,
        "summary_column": _choose(others, summary, SUMMARIES, "summary", text),
        "references_column": "references" if labelled else None,
    }
    # Of few documents a larger share, so that there is something to measure on.
    share = next(part for most, part in _SHARES if rows <= most)
    checked = max(share, round(min(_MOST, _WANTED / max(rows, 1)), 2))
    settings |= {"validation_fraction": checked, "test_fraction": share}
    settings |= {"id_column": names["id"]} if names["id"] else {}
    try:
        source = FilesSource(FilesSettings(**settings))
    except BridoError as error:
        text = str(error).replace("the files of data.files", "the files")
        raise BridoError(_OPTIONS.sub(_option, text)) from None
    found, bad, worst, wrong = {}, [], 0.0, 0
    texts: list[str] = []
    summaries: list[str] = []
    for split in SPLITS:
        checks = SplitChecks(split, False, 1.0)
        for row in checks.keep_good(source.rows(split)):
            if split == "train" and checks.kept <= _SAMPLE:
                texts.append(row["document"])
                summaries += [row["summary"]] if row["summary"] else []
        found[split] = checks.kept
        if checks.bad:
            bad.append(f"{split}: {checks.left_out()}")
            wrong += sum(checks.bad.values())
            worst = max(worst, sum(checks.bad.values()) / checks.rows)
    if wrong > _MOST_BAD * (wrong + sum(found.values())):
        raise BridoError.from_problems(
            f"more than {_MOST_BAD:.0%} of the rows cannot be used; mend or remove them:", bad
        )
    _check(found, set(given))
    return Data(settings, found, bad, worst, texts, summaries)


def _option(key: re.Match[str]) -> str:
    return f"--{key[1].replace('_', '-')}"


def _paths(given: Sequence[str]) -> str | list[str]:
    return given[0] if len(given) == 1 else list(given)


def _columns(settings: FilesSettings) -> tuple[list[str], int]:
    """The columns of the first file of train, and how many rows all of its files have."""
    source = FilesSource.__new__(FilesSource)
    source.settings = settings
    problems: list[str] = []
    paths = source._find("train", problems)
    if problems:
        raise BridoError(_OPTIONS.sub(_option, problems[0]))
    columns: list[str] = []
    count = 0
    for path in paths:
        for _, row in read_file(path):
            columns = columns or list(row)
            count += 1
    return columns, count


def _choose(
    columns: list[str],
    given: str | None,
    usual: Sequence[str],
    what: str,
    document: str | None = None,
) -> str | None:
    """The column that holds `what`: the given one, or the first usual name.

    document: the column that is already taken.
    """
    if what == "summary" and given == "none":
        return None
    names = [given] if given else usual
    found = next((name for name in names if name in columns), None)
    if found is not None:
        return found
    if what == "summary" and not given and not columns:
        raise BridoError(
            f"the file has the column `{document}` alone: if there are no summaries, add "
            "--summary-column none"
        )
    called = f"called {given}" if given else f"that usually holds the {what}"
    listed = quoted([document, *columns] if document else columns)
    without = " (none: there are no summaries)" if what == "summary" else ""
    raise BridoError(f"no column {called}, only {listed}: name it with --{what}-column{without}")


def _check(found: dict[str, int], given: set[str]) -> None:
    """Every split needs some documents."""
    small = [f"{split} {count}" for split, count in found.items() if count < 4]
    if small:
        cut = [split for split in SPLITS if split not in given]
        how = f"; {some(cut)} are cut from train: give more rows, or files of their own" * bool(cut)
        raise BridoError(f"too few documents ({', '.join(small)}; at least 4 of each split){how}")
