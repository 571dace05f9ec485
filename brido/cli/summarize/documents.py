"""The documents of files and of stdin, as rows that `brido.cli.rows.good_rows` reads."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from brido.cli.init.data import DOCUMENTS, usual
from brido.cli.rows import Values
from brido.corpus.checks import document_fault, joined
from brido.utils.errors import BridoError
from brido.utils.files import READERS, Row, begins_json, ending_of, read_rows, text_lines
from brido.utils.json_lines import keys_of

_TEXT = (".txt", ".text", ".md")


class DocumentReader:
    """Reads files as rows of `id`, `document` and `columns`, the values of the user's own row."""

    def __init__(
        self,
        files: Sequence[str],
        column: str | None = None,
        identity: str | None = None,
        whole: bool = False,
        learned: Sequence[str | None] = (None, None),
    ) -> None:
        """column, identity: of the documents and ids; None: `learned`, or a usual name.

        whole: a file is one text. learned: the columns of the run's own files.
        """
        self._several, self._whole = len(files) > 1, whole
        self._column, self._identity, self._learned = column, identity, learned

    def __call__(self, path: Path, shown: str) -> Iterator[Row]:
        """The rows of a file; the first one decides in which column its documents are.

        Raises:
            BridoError: the file cannot be read, or has no such column.
        """
        label, column = shown or str(path), ""
        for number, row in enumerate(self._rows(path, label, shown), 1):
            if row.problem:
                yield row
                continue
            column = column or self._column_of(label, row.values)
            made = f"{label}:{number}" if self._several else number
            named = self._identity or usual((self._learned[1] or "id", "id"), list(row.values))
            document = joined(row.values.get(column))
            values = {
                "id": row.values.get(named) if named else made,
                "document": document,
                "columns": row.values,
            }
            yield Row(row.place, values, document_fault(column, document))

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
        learned = self._learned[0] if self._learned[0] in values else None
        column = self._column or learned or usual(DOCUMENTS, list(values))
        if column is None or column not in values:
            asked = self._column or f"usual column ({', '.join(DOCUMENTS)})"
            raise BridoError(
                f"{label}: no {asked} is there. {keys_of(values)}. Name the one with the "
                "documents: --document-column NAME"
            )
        return column


def _is_json(path: Path) -> bool:
    with path.open("rb") as stream:
        return begins_json(stream)
