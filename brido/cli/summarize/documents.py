"""The documents of files and of stdin, as rows that `brido.cli.rows.good_rows` reads."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from brido.cli.init.data import DOCUMENTS, usual
from brido.cli.rows import Values
from brido.corpus.checks import document_fault, joined
from brido.utils.errors import BridoError
from brido.utils.files import READERS, Row, ending_of, read_rows, text_lines
from brido.utils.rows import keys_of

_TEXT = (".txt", ".text", ".md")


class Columns(NamedTuple):
    """The columns of documents and ids; None: `learned` of the run's own files, or a usual name."""

    document: str | None = None
    id: str | None = None
    learned: Sequence[str | None] = (None, None)


def read_documents(
    path: Path, shown: str, columns: Columns, several: bool = False, whole: bool = False
) -> Iterator[Row]:
    """The rows of a file: `id`, `document` and `columns`, the values of the user's own row.

    The first row decides in which column the documents are. several: there are other files, so ids
    that are made have the file's name. whole: a file is one text.

    Raises:
        BridoError: the file cannot be read, or has no such column.
    """
    label, column = shown or str(path), ""
    for number, row in enumerate(_rows(path, label, shown, whole), 1):
        if row.problem:
            yield row
            continue
        column = column or _column_of(label, row.values, columns)
        made = f"{label}:{number}" if several else number
        named = columns.id or usual((columns.learned[1] or "id", "id"), list(row.values))
        document = joined(row.values.get(column))
        own = row.values.get(named) if named else made
        values = {"id": own, "document": document, "columns": row.values}
        yield Row(row.place, values, document_fault(column, document))


def _rows(path: Path, label: str, shown: str, whole: bool) -> Iterator[Row]:
    ending = ending_of(path)
    if whole:
        yield Row(label, {"id": label, "document": "".join(text_lines(path, shown))})
    elif ending in _TEXT or (shown and not _is_json(path)):
        for number, line in enumerate(text_lines(path, shown), 1):
            if line.strip():
                yield Row(f"{label} line {number}", {"document": line})
    elif path.is_file() and ending not in READERS:
        known = f"known are {', '.join([*READERS, *_TEXT])} (--text reads any file as a text)"
        raise BridoError(f"{path}: its ending is unknown; {known}")
    else:
        yield from read_rows(path, label)


def _column_of(label: str, values: Values, columns: Columns) -> str:
    learned = columns.learned[0] if columns.learned[0] in values else None
    column = columns.document or learned or usual(DOCUMENTS, list(values))
    if column is None or column not in values:
        asked = columns.document or f"usual column ({', '.join(DOCUMENTS)})"
        raise BridoError(
            f"{label}: no {asked} is there. {keys_of(values)}. Name the one with the documents: "
            "--document-column NAME"
        )
    return column


def _is_json(path: Path) -> bool:
    """Whether a text begins as a JSON object or an array of objects or texts does."""
    with path.open("rb") as stream:
        start = stream.read(8192)
    text = start.decode(json.detect_encoding(start), "ignore")
    return re.match(r"\s*(\{|\[\s*([{\"\]]|\Z))", text) is not None
