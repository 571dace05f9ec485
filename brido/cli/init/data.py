"""What a user's files hold, found with the code that the pipeline reads them with."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from brido.corpus.checks import SPLITS, DocumentsSeen, SplitChecks
from brido.corpus.files import FilesSource, find_files, renamed
from brido.corpus.settings import FilesSettings
from brido.stats import FEWEST
from brido.text.words import clean, seeing_tokenizer, unseen_share
from brido.utils.errors import BridoError, quoted
from brido.utils.files import columns_of, first_rows
from brido.utils.rows import LeftOut
from brido.utils.sections import checked

# Usual names of such columns, the likeliest first. Beside a body, a source is a newspaper's name.
DOCUMENTS = ("document", "article", "text", "dialogue", "body", "content", "source", "abstract")
_SUMMARIES = ("summary", "highlights", "target", "abstract", "tldr", "headline", "title")
# So many documents show how long they are.
_SAMPLE = 1000
# Up to so many documents of train this share of them is cut off for each split without files. Of
# few documents it is a third: some to choose on, and some to measure on.
_SHARES = ((150, 1 / 3), (500, 0.2), (20_000, 0.1), (math.inf, 0.05))
# Documents that a split needs, and that are not few to choose or to measure on.
_NEEDED, _FEW = 4, {"validation": 40, "test": FEWEST}
# A larger share of bad rows is a mistake, not an accident.
MOST_BAD = 0.05
# Keys that messages call what the command line calls them.
_OPTIONS = re.compile(r"data\.files\.(train|validation|test|(?:document|summary|id)_column)\b")


@dataclass
class Data:
    """`data.files` for the user's files, and what is in them.

    documents: the good rows of each split. repeats: rows that repeat a document. texts, summaries:
    of the first documents of train. bad_share: the largest share of bad rows of a split, or of its
    first rows, which may be all that a run takes. warnings: what looks wrong.
    """

    files: dict[str, Any]
    documents: dict[str, int] = field(default_factory=dict)
    repeats: int = 0
    texts: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    bad_share: float = 0.0
    warnings: list[str] = field(default_factory=list)


def look(
    files: Mapping[str, Sequence[str]],
    document: str | None = None,
    summary: Sequence[str] = (),
    identity: str | None = None,
    rename: Sequence[str] = (),
) -> Data:
    """Read the files of `split -> paths or globs`; the others are as the command's options.

    Raises:
        BridoError: no such file, an unreadable or empty one, a missing column, many bad rows.
    """
    given: dict[str, Any] = {split: list(files[split]) for split in SPLITS if files.get(split)}
    if wrong := [pair for pair in rename if not all(pair.partition("="))]:
        raise BridoError(f"--rename {quoted(wrong[0])}: write OTHER=NAME")
    others = {old: new for old, _, new in (pair.partition("=") for pair in rename)}
    given |= {"rename": others} if others else {}
    try:
        paths = find_files("data.files.train", given["train"], [])
        first = [renamed(others, row) for row in first_rows(paths[0])] if paths else []
        named = _named(first, document, list(summary), identity)
        source = FilesSource(_settings({**given, **named}))
    except BridoError as error:
        raise BridoError(_OPTIONS.sub(_as_option, str(error))) from None
    data = Data({**given, **named, **_shares(source)})
    source.settings = _settings(data.files)
    seen, left_out, rows = DocumentsSeen(), LeftOut(), 0
    for split in SPLITS:
        checks = SplitChecks(split, False, MOST_BAD, seen)
        for row in checks.keep_good(source.rows(split)):
            if checks.rows > _FEW["validation"]:
                data.bad_share = max(data.bad_share, len(checks.bad) / (checks.rows - 1))
            if split == "train" and len(data.texts) < _SAMPLE:
                data.texts.append(row["document"])
                data.summaries += [row["summary"]] if row["summary"] else []
        data.documents[split] = checks.kept
        data.repeats += checks.repeats
        # Of a small split at least as many rows are taken as are good.
        data.bad_share = max(data.bad_share, len(checks.bad) / max(checks.kept, 1))
        for fault, bad in checks.bad.faults.items():
            left_out.note(fault, *bad)
        rows += checks.rows
        data.warnings += filter(None, [seen.warning(split)])
    _check(data, left_out, rows)
    data.warnings += _doubts(data)
    if left_out:
        data.warnings.append(f"left out: {left_out.text()}")
    return data


def _named(
    first: list[dict[str, Any]], document: str | None, asked: list[str], identity: str | None
) -> dict[str, Any]:
    """The columns of documents, summaries, further references and ids, by the first rows."""
    columns = columns_of(first)
    text = document or usual(DOCUMENTS, columns) or DOCUMENTS[0]
    named: dict[str, Any] = {"document_column": text}
    if known := identity or usual(("id",), columns):
        named["id_column"] = None if identity == "none" else known
    if asked == ["none"]:
        return named | {"summary_column": None}
    # Those of a paper are objects, or a number.
    further = next((row["references"] for row in first if row.get("references")), None)
    if isinstance(further[0] if isinstance(further, list) else further, str):
        named["references_column"] = "references"
    others = [name for name in columns if name != text]
    chosen = asked or [usual(_SUMMARIES, others) or _SUMMARIES[0]]
    return named | {"summary_column": chosen if len(chosen) > 1 else chosen[0]}


def usual(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column that has the first of these names, in capitals or not; None if there is none."""
    spelt = {column.lower(): column for column in reversed(columns)}
    return next((name if name in columns else spelt[name] for name in names if name in spelt), None)


def _settings(values: Mapping[str, Any]) -> FilesSettings:
    return checked(FilesSettings, dict(values), "these cannot be used:", "data.files.{}".format)


def _as_option(key: re.Match[str]) -> str:
    return f"--{key[1].replace('_', '-')}"


def _shares(source: FilesSource) -> dict[str, float]:
    """The shares of validation and test that cut off as many documents as are wanted.

    A document's place between 0 and 1 decides its split, so a share ends between two places.
    """
    cut = source.settings.cut
    checks = SplitChecks("train", False, MOST_BAD, DocumentsSeen())
    good = checks.keep_good(source.documents("train")) if cut else ()
    places = sorted(source.position(row["id"]) for row in good)
    count = int(next(part for most, part in _SHARES if len(places) <= most) * len(places))
    ends = [0.0, *(sum(places[n * count - 1 : n * count + 1]) / 2 for n in range(1, len(cut) + 1))]
    if not count:
        return {}
    sizes = (round(end - start, 9) for start, end in pairwise(ends))
    return {f"{split}_fraction": size for split, size in zip(cut, sizes, strict=True)}


def _check(data: Data, left_out: LeftOut, rows: int) -> None:
    """Refuse files with many bad rows or few good ones."""
    if len(left_out) > MOST_BAD * rows:
        raise BridoError(
            f"--train: {len(left_out):,} of {rows:,} rows are bad, more than the {MOST_BAD:.0%} "
            f"that may be left out: {left_out.text()}. Correct them, take them out, or name "
            "another --id-column (none: ids are made from the texts)"
        )
    if min(data.documents.values()) < _NEEDED:
        counts = ", ".join(f"{split} {count}" for split, count in data.documents.items())
        raise BridoError(
            f"each split needs at least {_NEEDED} documents, but there are {counts}: give --train "
            f"at least {10 * _NEEDED} rows, or each split a file with more rows"
        )


def _doubts(data: Data) -> Iterator[str]:
    """Sentences about documents and summaries that can be read and look wrong."""
    for split, few in _FEW.items():
        if (count := data.documents[split]) < few:
            yield (
                f"{count} {split} documents are few (fewer than {FEWEST} measure nothing). Give "
                f"more rows, or a file of their own with --{split}"
            )
    if seeing_tokenizer(data.texts) == "unicode":
        yield (
            f"rouge_score breaks or leaves out {unseen_share(data.texts):.0%} of the words (it "
            "knows a-z and 0-9): pairwise.tokenizer and evaluation.rouge.tokenizer are unicode"
        )
    pairs = list(zip(data.texts, data.summaries, strict=False))
    copied = sum(clean(summary) in clean(document) for document, summary in pairs)
    longer = sum(len(summary) >= len(document) for document, summary in pairs)
    if max(copied, longer) > max(1, len(pairs) / 2):
        yield (
            f"of {len(pairs):,} summaries {copied:,} stand in their document, word for word, and "
            f"{longer:,} are as long as it: is this the column of the summaries? "
            "(--document-column, --summary-column)"
        )
