"""Rows of any source become corpus rows; bad ones are counted, named, and refused above a limit."""

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from brido.corpus.settings import FilesSettings, HubSettings
from brido.text.words import clean, clean_lines
from brido.utils.errors import quoted, short, some
from brido.utils.rows import Ids, LeftOut, id_text, is_blank, is_missing, kind

SPLITS = ("train", "validation", "test")
# Values that a program wrote as texts: a list, bytes, an object of JSON or Python.
WRITTEN = re.compile(
    r"""\s*(\[\s*['"].*['"]\s*\]|b(['"]).*\2|\{\s*(['"])[^'"\n]{1,80}\3\s*:.*\})\s*""", re.DOTALL
)


@dataclass(frozen=True)
class RawRow:
    """One row as its source gave it, before any check.

    made: its id is made from the document. where: its place, for messages (`a.jsonl line 7`).
    extra: further columns of the corpus table, unchecked (the world's facts). fault: why the row
    cannot be read. repeats: rows behind it with the same document, whose summaries are its
    references.
    """

    id: Any
    document: Any
    summary: Any
    references: Any = None
    where: str = ""
    made: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    repeats: int = 0


class Unlabelled:
    """The summary of a row whose source has none."""


def raw_row(
    columns: HubSettings | FilesSettings,
    values: dict[str, Any],
    where: str,
    has_id: bool,
    references: Any = None,
    fault: str = "",
) -> RawRow:
    """The row of a user's table; `columns` names its columns, `has_id` says whether it has ids."""
    document = joined(values.get(columns.document_column))
    summary_column = next(iter(columns.summary_columns), None)
    return RawRow(
        values.get(columns.id_column or "") if has_id else made_id(document),
        document,
        Unlabelled if summary_column is None else values.get(summary_column),
        references,
        where,
        made=not has_id,
        fault=fault,
    )


def lacking(
    key: str, columns: HubSettings | FilesSettings, place: str, names: Sequence[str]
) -> Iterator[str]:
    """A sentence for each column that a table of a user's lacks.

    key: the section that names the columns. place, names: the table, and the columns that it has.
    """
    # A column `id` is used where there is one; every other name must exist.
    identity = columns.id_column if columns.id_column not in (None, "id") else None
    named = [("id_column", identity), ("document_column", columns.document_column)]
    named += [("summary_column", name) for name in columns.summary_columns]
    for what, name in named:
        if name and name not in names:
            hint = " (none: there are no references)" * (what == "summary_column")
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            meant = f"; did you mean {short(close[0])}?" if close else ""
            only = f"{quoted(name)}, only {quoted(names)}"
            yield f"{key}.{what}: {place} has no column {only}{meant}{hint}"


def joined(document: Any) -> Any:
    """A document that is a list of sentences or paragraphs as one text; any other as it is."""
    is_list = isinstance(document, list) and document
    if is_list and all(isinstance(part, str) for part in document):
        return " ".join(document)
    return document


def document_fault(name: str, value: Any) -> str:
    """What is wrong with a document or summary, behind its name; "" where nothing is."""
    if value is None:
        return f"{name} is null"
    if not isinstance(value, str):
        is_list = name == "summary" and isinstance(value, list)
        hint = " (data.files.references_column names a column of lists)" if is_list else ""
        return f"{name} is {kind(value)}, not a text{hint}"
    if is_blank(value):
        return f"{name} is blank"
    if is_missing(value):
        return f"{name} is {value.strip()}, the mark of a missing or wrong value"
    if WRITTEN.fullmatch(value):
        return f"{name} is a list, an object or bytes as a program writes them, not a text"
    return ""


def made_id(document: Any) -> str | None:
    """Return the id made for a document that has none: 16 hexadecimal digits of its SHA-256.

    It stays the same when rows or files are added or reordered, so a split cut by id does too.
    None where there is no text.
    """
    if not isinstance(document, str):
        return None
    return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class DocumentsSeen:
    """The documents of all splits so far, known by a hash of their text.

    Memory grows by about 150 bytes for each different document.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._count: Counter[str] = Counter()
        # By split, and by the split where the same document stood first.
        self._again: dict[str, dict[str, list[str]]] = {}

    def add(self, split: str, name: str, document: str) -> None:
        """Note a document of a split, whose id is `name`."""
        self._count[split] += 1
        digest = hashlib.blake2b(document.encode(), digest_size=16).digest()
        if first := self._first.get(digest):
            self._again.setdefault(split, {}).setdefault(first, []).append(name)
        self._first.setdefault(digest, split)

    def warning(self, split: str) -> str:
        """What a user should know about a split whose documents are not all new; "" if they are."""
        found = [
            f"{len(names):,} stand in {first} too ({some(names)})"
            for first, names in self._again.get(split, {}).items()
        ]
        told = f"{split}: of {self._count[split]:,} documents {' and '.join(found)}"
        return f"{told}; numbers measured on them say little about new documents" if found else ""


class SplitChecks:
    """The checks of one split and what they found.

    A row is bad if it cannot be read, if its document or summary is no text, if its document is its
    summary, if its id is missing or was seen before, or if its references are not a list of texts.
    Bad rows are left out; `problem` says whether they are too many.
    Memory grows by about 100 bytes a row, for the ids.
    """

    def __init__(
        self, split: str, lowercase: bool, max_bad_fraction: float, documents: DocumentsSeen
    ) -> None:
        """Checks for `split`; `lowercase` lower-cases documents, summaries and references.

        documents: those of the splits before, to which the good ones of this split are added.
        """
        self.split, self.lowercase, self.max_bad_fraction = split, lowercase, max_bad_fraction
        self._documents = documents
        self.rows = self.kept = self.repeats = 0
        self.bad = LeftOut()
        self._ids = Ids()

    def keep_good(self, rows: Iterable[RawRow]) -> Iterator[dict[str, Any]]:
        """Yield the good rows as rows of the corpus table, in order.

        Texts have every run of white space made one space; documents keep their line breaks, which
        part the turns of a dialogue. `references` holds every reference of
        the document, its summary first, no text twice; none where the source has no summaries.
        """
        for row in rows:
            self.rows += 1
            if fault := row_fault(row) or self._id_fault(row):
                name = None if row.made else id_text(row.id)
                place = row.where or f"row {self.rows}"
                self.bad.note(fault, place if name is None else f"{short(name)} ({place})")
                continue
            self.kept += 1
            self.repeats += row.repeats
            summary = None if row.summary is Unlabelled else self._text(clean(row.summary))
            document = self._text(clean_lines(row.document))
            self._documents.add(self.split, str(row.id), clean(document))
            others = [summary or "", *(self._text(clean(text)) for text in row.references or [])]
            yield {
                "id": str(row.id),
                "document": document,
                "summary": summary,
                "references": list(dict.fromkeys(text for text in others if text)),
                **row.extra,
            }

    def _text(self, text: str) -> str:
        return text.lower() if self.lowercase else text

    def _id_fault(self, row: RawRow) -> str:
        """What is wrong with the id of a row, or ""; one that is right is remembered."""
        fault = self._ids.fault(row.id)
        return "document was seen before" if fault and row.made else fault

    def problem(self) -> str | None:
        """Why this split cannot be used, with the way out; None when it can be."""
        if self.rows == 0:
            return f"{self.split}: the split is empty: give it documents, or more of train's"
        key = "data.max_bad_fraction"
        if problem := self.bad.problem(self.rows, self.max_bad_fraction, key):
            return f"{self.split}: {problem}"
        if self.kept == 0:
            return f"{self.split}: no good row is left: {self.bad.text()}"
        return None


def row_fault(row: RawRow) -> str:
    """What is wrong with a row, its id aside; "" where nothing is."""
    if row.fault:
        return row.fault
    for name, value in (("document", row.document), ("summary", row.summary)):
        if value is not Unlabelled and (fault := document_fault(name, value)):
            return fault
    references = row.references
    if isinstance(references, str):
        return "references are a list as Python writes it, not as JSON does"
    if references is not None and not (
        isinstance(references, list) and all(isinstance(text, str) for text in references)
    ):
        return "references are not a list of texts"
    if row.summary is not Unlabelled and clean(row.document) == clean(row.summary):
        return "document is its own summary"
    return ""
