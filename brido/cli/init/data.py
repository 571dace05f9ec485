"""What a user's files hold, found with the code that the pipeline reads them with."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from brido.cli.init.doubts import doubts
from brido.corpus.checks import SPLITS, LeftOut, SplitChecks
from brido.corpus.duplicates import DocumentsSeen
from brido.corpus.files import FilesSource, find_files
from brido.corpus.settings import FilesSettings
from brido.stats import FEWEST
from brido.utils.errors import BridoError, quoted, short
from brido.utils.files import columns_of, first_rows, read_file

# Usual names of such columns, the likeliest first. Beside a body, a source is a newspaper's name.
DOCUMENTS = (
    *("document", "article", "text", "dialogue", "dialog", "body", "content", "source"),
    "abstract",
)
_SUMMARIES = ("summary", "highlights", "target", "abstract", "tldr", "headline", "title", "note")
# So many documents show how long they are.
_SAMPLE = 1000
# Up to so many rows of train this share of them is cut off for each split without files.
_SHARES = ((500, 0.2), (20_000, 0.1), (math.inf, 0.05))
# Rows that are wanted to choose a system on, and to measure it on; the largest share of few rows.
_WANTED, _MOST = 50, 0.3
# Documents that a split needs, and rows of train from which each split is likely to get them.
_NEEDED, _ENOUGH = 4, 40
# Fewer documents to choose on hardly tell two systems apart.
_TO_CHOOSE = 40
# From so many rows each split can have FEWEST documents; the share of one that is short grows in
# such steps.
_TO_MEASURE, _STEP = 60, 0.01
# A larger share of bad rows is a mistake, not an accident.
MOST_BAD = 0.05
# Keys that messages call what the command line calls them.
_OPTIONS = re.compile(r"data\.files\.(train|validation|test|(?:document|summary|id)_column)\b")


@dataclass(frozen=True)
class Data:
    """`data.files` for the user's files, and what is in them.

    documents: good rows of each split, as the pipeline will cut them; bad: what is wrong with the
    others; bad_share: their largest share of a split, or of its first rows, which may be all that a
    run takes. texts, summaries: of the first documents of train (no summaries: no references).
    doubts: sentences about documents and summaries that can be read and look wrong.
    """

    files: dict[str, Any]
    documents: dict[str, int]
    bad: list[str]
    texts: list[str]
    summaries: list[str]
    bad_share: float = 0.0
    doubts: tuple[str, ...] = ()


@dataclass
class _Held:
    """What the checks found in each split, and which documents they saw; the rest is as in Data."""

    splits: dict[str, SplitChecks] = field(default_factory=dict)
    seen: DocumentsSeen = field(default_factory=DocumentsSeen)
    texts: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    bad_share: float = 0.0


def look(
    files: Mapping[str, Sequence[str]],
    document: str | None = None,
    summary: str | Sequence[str] | None = None,
    identity: str | None = None,
) -> Data:
    """Read the files of `split -> paths or globs`; train must be there.

    document, summary, identity: their columns, None: the first usual name; several summaries are
    several references, "none": no references, or ids made from the texts.

    Raises:
        BridoError: no such file, an unreadable or empty one, a missing column, hardly any good row.
    """
    given = {split: list(files[split]) for split in SPLITS if files.get(split)}
    asked = [summary] if isinstance(summary, str) else list(summary or ())
    _check_names(given, document, asked, identity)
    columns, rows = _columns(find_files("data.files.train", given["train"], []))
    settings: dict[str, Any] = {**given, **_named(columns, document, asked, identity)}
    if asked != ["none"] and _have_references(given):
        settings["references_column"] = "references"
    # Of few documents a larger share, so that there is something to measure on.
    share = next(part for most, part in _SHARES if rows <= most)
    checked = max(share, round(min(_MOST, _WANTED / max(rows, 1)), 2))
    settings |= {"validation_fraction": checked, "test_fraction": checked}
    held = _read(settings)
    if rows >= _TO_MEASURE:
        while _enlarge(settings, held.splits, given):
            held = _read(settings)
    _check_bad(held.splits, given)
    counts = {split: checks.kept for split, checks in held.splits.items()}
    if min(counts.values()) < _NEEDED:
        raise BridoError(_too_few(counts, given))
    repeated = [_as_options(text) for split in SPLITS for text in held.seen.warnings(split)]
    return Data(
        settings,
        counts,
        [f"{split}: {checks.bad.text()}" for split, checks in held.splits.items() if checks.bad],
        held.texts,
        held.summaries,
        held.bad_share,
        (
            *repeated,
            *_unused_split(columns, given),
            *_few_to_measure(counts),
            *doubts(held.texts, held.summaries),
        ),
    )


def _read(settings: Mapping[str, Any]) -> _Held:
    source, held = _source(settings), _Held()
    for split in SPLITS:
        checks = held.splits[split] = SplitChecks(split, False, MOST_BAD, held.seen)
        for row in checks.keep_good(source.rows(split)):
            if checks.rows > _TO_CHOOSE:
                held.bad_share = max(held.bad_share, len(checks.bad) / (checks.rows - 1))
            if split == "train" and checks.kept <= _SAMPLE:
                held.texts.append(row["document"])
                held.summaries += [row["summary"]] if row["summary"] else []
        # Of a small split at least as many rows are taken as are good.
        held.bad_share = max(held.bad_share, len(checks.bad) / max(checks.kept, 1))
    return held


def _enlarge(
    settings: dict[str, Any], found: Mapping[str, SplitChecks], given: Mapping[str, Any]
) -> bool:
    """Enlarge the share of a split that is cut from train and has too few documents to measure on.

    False where there is none, or where train has too few itself.
    """
    small = [split for split in SPLITS[1:] if split not in given and found[split].kept < FEWEST]
    if not small or found["train"].kept <= _NEEDED + 2 * len(small):
        return False
    for split in small:
        key = f"{split}_fraction"
        settings[key] = round(settings[key] + _STEP, 2)
    return True


def _check_bad(found: Mapping[str, SplitChecks], given: Mapping[str, Any]) -> None:
    """Refuse files with many bad rows; what is cut from train counts as a part of train's files."""
    groups = [[split] for split in SPLITS[1:] if split in given]
    groups.insert(0, [split for split in SPLITS if split == "train" or split not in given])
    problems = []
    for group in groups:
        left_out = LeftOut()
        for split in group:
            left_out.add(found[split].bad)
        bad, rows = len(left_out), sum(found[split].rows for split in group)
        if bad > MOST_BAD * rows:
            of_ids = any(fault.startswith("id ") for fault in left_out.faults)
            other = ", or name another --id-column (none: ids are made from the texts)"
            problems.append(
                f"--{group[0]}: {bad:,} of {rows:,} rows are bad ({bad / rows:.1%}, more than the "
                f"{MOST_BAD:.0%} that may be left out): {left_out.text()}. Correct them, or take "
                f"them out{other if of_ids else ''}"
            )
    if problems:
        raise BridoError.from_problems("the files cannot be used:", problems)


def _unused_split(columns: Sequence[str], given: Mapping[str, Any]) -> Iterator[str]:
    column = usual(("split",), columns)
    if column and len(given) < len(SPLITS):
        cut = " and ".join(f"--{split}" for split in SPLITS if split not in given)
        yield (
            f"the column {short(column)} is not used: what is cut from train is drawn by chance. "
            f"To keep splits of your own, give each a file ({cut})"
        )


def _few_to_measure(counts: Mapping[str, int]) -> Iterator[str]:
    for split in SPLITS[1:]:
        few, more = counts[split], f"Give more rows, or a file of their own with --{split}"
        if few < FEWEST:
            verdict = ", and a run gives no verdict" if split == "validation" else ""
            yield (
                f"{few} {split} documents: no number that is measured on fewer than {FEWEST} can "
                f"be trusted{verdict}. {more}"
            )
        elif split == "validation" and few < _TO_CHOOSE:
            yield (
                f"{few} validation documents are few for a verdict: {_TO_CHOOSE} or more are "
                f"better. {more}"
            )


def _too_few(found: Mapping[str, int], given: Mapping[str, Any]) -> str:
    """Which splits are too small, and what helps."""
    small = [f"{split} {count}" for split, count in found.items() if count < _NEEDED]
    told = f"each split needs at least {_NEEDED} documents, but there are {', '.join(small)}. "
    if cut := [split for split in SPLITS if split not in given]:
        files = " and ".join(f"--{split}" for split in cut)
        return told + (
            f"Give --train at least {_ENOUGH} rows, from which {' and '.join(cut)} can be cut, or "
            f"name files with {files}"
        )
    options = " and ".join(f"--{text.split()[0]}" for text in small)
    return told + f"Name files with more rows for {options}"


def _named(
    columns: list[str], document: str | None, asked: list[str], identity: str | None
) -> dict[str, Any]:
    """The columns of documents, summaries and ids."""
    text = document or usual(DOCUMENTS, columns) or DOCUMENTS[0]
    named: dict[str, Any] = {"document_column": text}
    if known := identity or usual(("id",), columns):
        named["id_column"] = None if identity == "none" else known
    if asked == ["none"]:
        return named | {"summary_column": None}
    others = [name for name in columns if name != text]
    chosen = asked or [usual(_SUMMARIES, others) or _SUMMARIES[0]]
    return named | {"summary_column": chosen if len(chosen) > 1 else chosen[0]}


def _have_references(given: Mapping[str, list[str]]) -> bool:
    """Whether files have further references: a column of texts, by the first rows of each.

    Those of a paper are objects, or a number.
    """
    found = []
    for split, patterns in given.items():
        for path in find_files(f"data.files.{split}", patterns, []):
            with suppress(BridoError):  # told with all others
                found += [row["references"] for row in first_rows(path) if "references" in row]
    texts = [item for value in found for item in (value if isinstance(value, list) else [value])]
    return bool(found) and all(item is None or isinstance(item, str) for item in texts)


def usual(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column that has the first of these names, in capitals or not; None if there is none."""
    spelt = {column.lower(): column for column in reversed(columns)}
    return next((name if name in columns else spelt[name] for name in names if name in spelt), None)


def _check_names(
    given: Mapping[str, Any], document: str | None, asked: list[str], identity: str | None
) -> None:
    """Refuse names that params.yaml cannot hold: empty ones, control characters, half signs."""
    settings: dict[str, Any] = dict(given)
    settings |= {"summary_column": asked} if asked else {}
    settings |= {} if document is None else {"document_column": document}
    settings |= {} if identity is None else {"id_column": identity}
    try:
        FilesSettings(**settings)
    except ValidationError as error:
        problems: dict[str, None] = {}
        for item in error.errors():
            words = item["msg"].removeprefix("Value error, ")
            option = f"--{str(item['loc'][0]).replace('_', '-')}: " if item["loc"] else ""
            # pydantic also tries a list as a single text, and says so.
            if item["type"] != "string_type":
                problems[f"{option}{quoted(item['input'])} {words}" if option else words] = None
        raise BridoError.from_problems("the command line cannot be used:", problems) from None


def _source(settings: Mapping[str, Any]) -> FilesSource:
    """The files; what is wrong with them is told by the names of the options."""
    try:
        return FilesSource(FilesSettings(**settings))
    except BridoError as error:
        without = "(if there are no summaries, add --summary-column none)"
        text = str(error).replace("(null: there are no references)", without)
        raise BridoError(
            _as_options(text).replace("the files of data.files", "the files")
        ) from None


def _as_options(text: str) -> str:
    """A message with the options in the place of the keys."""
    return _OPTIONS.sub(lambda key: f"--{key[1].replace('_', '-')}", text)


def _columns(paths: Sequence[Path]) -> tuple[list[str], int]:
    """The columns of the first file, and how many rows all of them have."""
    columns = columns_of(first_rows(paths[0])) if paths else []
    return columns, sum(1 for path in paths for _ in read_file(path))
