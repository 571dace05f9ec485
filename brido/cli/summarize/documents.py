"""The documents of files and of stdin, as rows that `brido.cli.rows.good_rows` reads."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from brido.cli.init.data import DOCUMENTS, usual
from brido.cli.rows import Values
from brido.corpus.checks import joined, text_fault
from brido.utils.errors import BridoError
from brido.utils.files import READERS, Row, begins_json, ending_of, read_rows, text_lines
from brido.utils.json_lines import keys_of, kind

_TEXT = (".txt", ".text", ".md")


class DocumentReader:
    """Reads files as rows of `id`, `document` and `columns`, the values of the user's own row."""

    def __init__(
        self,
        files: Sequence[str],
        columns: Sequence[str] = (),
        identity: str | None = None,
        whole: bool = False,
        learned: Sequence[str | None] = (None, None),
    ) -> None:
        """columns: of the documents, the first that a file has; none: `learned`, or a usual name.

        identity: the column of the ids. whole: a file is one text. learned: the columns of
        documents and ids of the run's own files.

        Raises:
            BridoError: a file is named more than once.
        """
        self._several, self._whole = len(files) > 1, whole
        self._columns, self._identity, self._learned = list(columns), identity, learned
        self._names = Counter(Path(name).name for name in files)
        if twice := [str(path) for path, times in Counter(map(Path, files)).items() if times > 1]:
            raise BridoError(f"{', '.join(twice)} is named more than once")

    def __call__(self, path: Path, shown: str) -> Iterator[Row]:
        """The rows of a file; the first one decides in which column its documents are.

        Raises:
            BridoError: the file cannot be read, or has no such column.
        """
        # Files of one name in several folders keep their folders, and so their own ids.
        own = path.name if self._names[path.name] == 1 else str(path)
        label, column = shown or os.fsencode(own).decode("utf-8", "backslashreplace"), ""
        for number, row in enumerate(self._rows(path, label, shown), 1):
            if row.problem:
                yield row
                continue
            column = column or self._column_of(label, row.values)
            made = f"{label}:{number}" if self._several else number
            named = self._identity or usual((self._learned[1] or "id", "id"), list(row.values))
            values = {
                "id": row.values.get(named) if named else made,
                "document": joined(row.values.get(column)),
                "columns": row.values,
            }
            yield Row(row.place, values, _fault(row.values, column))

    def _rows(self, path: Path, label: str, shown: str) -> Iterator[Row]:
        ending = ending_of(path)
        if self._whole:
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

    def _column_of(self, label: str, values: Values) -> str:
        learned = [name for name in self._learned[:1] if name in values]
        wanted: Sequence[str | None] = self._columns or learned or [usual(DOCUMENTS, list(values))]
        column = next((name for name in wanted if name in values), None)
        if column is None:
            asked = " or ".join(self._columns) or f"usual column ({', '.join(DOCUMENTS)})"
            raise BridoError(
                f"{label}: no {asked} is there. {keys_of(values)}. Name the one with the "
                "documents: --document-column NAME"
            )
        return column


def _is_json(path: Path) -> bool:
    with path.open("rb") as stream:
        return begins_json(stream)


def _fault(values: Values, column: str) -> str:
    """What is wrong with a row's document, "" where nothing is."""
    if column not in values:
        return f"`{column}` is missing"
    document = joined(values[column])
    if not isinstance(document, str):
        return f"`{column}` is {kind(document)}, not a text"
    fault = text_fault(document)
    return f"`{column}` {fault}" if fault else ""
