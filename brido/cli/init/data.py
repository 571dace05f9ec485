"""What a user's files hold, found with the code that the pipeline reads them with."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from brido.cli.init.doubts import doubts
from brido.corpus.checks import SPLITS, SplitChecks
from brido.corpus.duplicates import DocumentsSeen
from brido.corpus.files import FilesSource, find_files
from brido.corpus.settings import FilesSettings
from brido.stats import FEWEST
from brido.utils.errors import BridoError, quoted
from brido.utils.files import columns_of, first_rows
from brido.utils.left_out import LeftOut
from brido.utils.sections import checked

# Usual names of such columns, the likeliest first. Beside a body, a source is a newspaper's name.
DOCUMENTS = (
    *("document", "article", "text", "dialogue", "dialog", "body", "content", "source"),
    "abstract",
)
_SUMMARIES = ("summary", "highlights", "target", "abstract", "tldr", "headline", "title", "note")
# So many documents show how long they are.
_SAMPLE = 1000
# Up to so many documents of train this share of them is cut off for each split without files. Of
# few documents it is a third, up to so many: some to choose on, and some to measure on.
_SHARES, _WANTED = ((500, 0.2), (20_000, 0.1), (math.inf, 0.05)), 50
# Documents that a split needs, and rows of train from which each split is likely to get them.
_NEEDED, _ENOUGH = 4, 40
# Fewer documents to choose on hardly tell two systems apart.
_TO_CHOOSE = 40
# A larger share of bad rows is a mistake, not an accident.
MOST_BAD = 0.05
# Keys that messages call what the command line calls them.
_OPTIONS = re.compile(r"data\.files\.(train|validation|test|(?:document|summary|id)_column)\b")


@dataclass
class Data:
    """`data.files` for the user's files, and what is in them.

    splits: the checks of each split, as the pipeline will cut them. bad_share: the largest share of
    bad rows of a split, or of its first rows, which may be all that a run takes. texts, summaries:
    of the first documents of train (no summaries: no references). doubts: sentences about documents
    and summaries that can be read and look wrong.
    """

    files: dict[str, Any]
    splits: dict[str, SplitChecks] = field(default_factory=dict)
    seen: DocumentsSeen = field(default_factory=DocumentsSeen)
    texts: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    bad_share: float = 0.0
    doubts: list[str] = field(default_factory=list)

    @property
    def documents(self) -> dict[str, int]:
        """The good rows of each split."""
        return {split: checks.kept for split, checks in self.splits.items()}

    @property
    def repeats(self) -> int:
        """Rows that repeat the document of another row, whose references they are."""
        return sum(checks.repeats for checks in self.splits.values())

    @property
    def bad(self) -> list[str]:
        """What is wrong with the rows that are left out."""
        return [f"{name}: {one.bad.text()}" for name, one in self.splits.items() if one.bad]


def look(
    files: Mapping[str, Sequence[str]],
    document: str | None = None,
    summary: Sequence[str] = (),
    identity: str | None = None,
    rename: Sequence[str] = (),
) -> Data:
    """Read the files of `split -> paths or globs`; train must be there.

    document, summary, identity: their columns, None or none: the first usual name; several
    summaries are several references, "none": no references, or ids made from the texts. rename:
    `OTHER=NAME`, columns of files that call them otherwise.

    Raises:
        BridoError: no such file, an unreadable or empty one, a missing column, hardly any good row.
    """
    given = {split: list(files[split]) for split in SPLITS if files.get(split)}
    if wrong := [pair for pair in rename if not all(pair.partition("="))]:
        raise BridoError(f"--rename {quoted(wrong[0])}: write OTHER=NAME")
    renamed = {old: new for old, _, new in (pair.partition("=") for pair in rename)}
    named = {"document_column": document, "summary_column": list(summary), "id_column": identity}
    # Names that params.yaml cannot hold: empty ones, control characters, half signs.
    _settings(given | {name: value for name, value in named.items() if value not in (None, [])})
    paths = find_files("data.files.train", given["train"], [])
    columns = columns_of(first_rows(paths[0])) if paths else []
    columns = [renamed.get(name, name) for name in columns]
    settings = {**given, "rename": renamed, **_named(columns, document, list(summary), identity)}
    if [*summary] != ["none"] and _have_references(given):
        settings["references_column"] = "references"
    data = _read(settings)
    _check(data, given)
    data.doubts = [
        *(_as_options(text) for split in SPLITS if (text := data.seen.warning(split))),
        *_few_to_measure(data.documents),
        *doubts(data.texts, data.summaries),
    ]
    return data


def _read(settings: Mapping[str, Any]) -> Data:
    try:
        source = FilesSource(_settings(settings))
    except BridoError as error:
        without = "(if there are no summaries, add --summary-column none)"
        text = str(error).replace("(null: there are no references)", without)
        text = text.replace("the files of data.files", "the files")
        raise BridoError(_as_options(text)) from None
    shares = _shares(source)
    data = Data({**settings, **shares})
    source.settings = _settings(data.files)
    for split in SPLITS:
        checks = data.splits[split] = SplitChecks(split, False, MOST_BAD, data.seen)
        for row in checks.keep_good(source.rows(split)):
            if checks.rows > _TO_CHOOSE:
                data.bad_share = max(data.bad_share, len(checks.bad) / (checks.rows - 1))
            if split == "train" and checks.kept <= _SAMPLE:
                data.texts.append(row["document"])
                data.summaries += [row["summary"]] if row["summary"] else []
        # Of a small split at least as many rows are taken as are good.
        data.bad_share = max(data.bad_share, len(checks.bad) / max(checks.kept, 1))
    return data


def _shares(source: FilesSource) -> dict[str, float]:
    """The shares of validation and test; of few documents those that cut off as many as are wanted.

    A document's place between 0 and 1 decides its split, so a share ends between two places.
    """
    cut = source.settings.cut
    checks = SplitChecks("train", False, MOST_BAD, DocumentsSeen())
    good = checks.keep_good(source.documents("train")) if cut else ()
    places = sorted(source.position(row["id"]) for row in good)
    share = next(part for most, part in _SHARES if len(places) <= most)
    shares, start = dict.fromkeys(("validation_fraction", "test_fraction"), share), 0.0
    wanted = min(_WANTED, len(places) // 3)
    for number, split in enumerate(cut if wanted > share * len(places) else (), 1):
        below, above = (places[number * wanted + side] for side in (-1, 0))
        middle = (below + above) / 2
        end = next(end for digits in range(2, 12) if below < (end := round(middle, digits)) < above)
        shares[f"{split}_fraction"] = round(end - start, 12)
        start = end
    return shares


def _settings(values: Mapping[str, Any]) -> FilesSettings:
    """The section; a BridoError that names options where values do not fit."""
    return checked(FilesSettings, dict(values), "the command line cannot be used:", _option)


def _option(key: str) -> str:
    return f"--{key.partition('.')[0].replace('_', '-')}"


def _check(data: Data, given: Mapping[str, Any]) -> None:
    """Refuse files with many bad rows or few good ones; what is cut from train counts as train."""
    groups = [["train", *(split for split in SPLITS[1:] if split not in given)]]
    groups += [[split] for split in SPLITS[1:] if split in given]
    problems = []
    for group in groups:
        left_out = LeftOut()
        for split in group:
            left_out.add(data.splits[split].bad)
        bad, rows = len(left_out), sum(data.splits[split].rows for split in group)
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
    if min(data.documents.values()) < _NEEDED:
        counts = ", ".join(f"{split} {count}" for split, count in data.documents.items())
        raise BridoError(
            f"each split needs at least {_NEEDED} documents, but there are {counts}: give --train "
            f"at least {_ENOUGH} rows, from which the others can be cut, or give each split a file "
            "with more rows"
        )


def _few_to_measure(counts: Mapping[str, int]) -> Iterator[str]:
    for split in SPLITS[1:]:
        few, more = counts[split], f"Give more rows, or a file of their own with --{split}"
        if few < FEWEST:
            yield f"{few} {split} documents: fewer than {FEWEST} measure nothing. {more}"
        elif split == "validation" and few < _TO_CHOOSE:
            yield f"{few} validation documents are few to choose a system on. {more}"


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
    found: list[Any] = []
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


def _as_options(text: str) -> str:
    """A message with the options in the place of the keys."""
    return _OPTIONS.sub(lambda key: f"--{key[1].replace('_', '-')}", text)
