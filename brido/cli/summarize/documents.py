"""The documents of files and of stdin, one after the other; rows that hold none are left out."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from brido.cli.init.data import DOCUMENTS, usual
from brido.corpus.checks import joined, text_fault
from brido.summarizer.writer import Named
from brido.utils.errors import BridoError
from brido.utils.files import READERS, Row, read_rows
from brido.utils.ids import Ids, id_text
from brido.utils.json_lines import keys_of, kind
from brido.utils.left_out import LeftOut
from brido.utils.text_files import STDIN, begins_json, ending_of, standard_input, text_lines

_TEXT = (".txt", ".text", ".md")


class GivenDocuments:
    """The documents of all files, in order, in constant memory (a JSON array aside).

    left_out: the rows without a document so far.
    """

    def __init__(
        self,
        files: Sequence[str],
        column: str | None = None,
        whole: bool = False,
        learned: str | None = None,
    ) -> None:
        """column: that holds the document; None: `learned`, the one of the run's own files, where a
        file has it, else the first usual name. whole: a file is one text.

        Raises:
            BridoError: a file is missing, of an unknown kind, or its first row has no column with
                documents (all named).
        """
        self._files, self._column, self._whole = list(files) or [STDIN], column, whole
        self._learned, self.left_out = learned, LeftOut()
        problems = [problem for name in self._files if (problem := self._problem(name))]
        problems += [
            f"{name} is named more than once"
            for name, times in Counter(map(Path, self._files)).items()
            if times > 1
        ]
        if problems:
            raise BridoError.from_problems("the documents cannot be read:", problems)

    def _problem(self, name: str) -> str:
        """What is wrong at the start of a file: of the last one, better known before the first."""
        if name == STDIN:
            return ""
        try:
            for row in self._rows(name, name):
                if not row.problem:
                    self._column_of(name, row.values)
                    break
        except BridoError as error:
            return str(error)
        return ""

    def __iter__(self) -> Iterator[Named]:
        several, ids = len(self._files) > 1, Ids()
        names = Counter(Path(name).name for name in self._files)
        for name in self._files:
            column = ""
            # Files of one name in several folders keep their folders, and so their own ids.
            own = Path(name).name
            shown = "stdin" if name == STDIN else _as_text(own if names[own] == 1 else name)
            for number, row in enumerate(self._rows(name, shown), 1):
                fault = row.problem
                if not fault:
                    column = column or self._column_of(shown, row.values)
                    own_id = usual(("id",), list(row.values))
                    made = f"{shown}:{number}" if several else number
                    identity = made if own_id is None else row.values[own_id]
                    fault = _fault(row.values, column) or ids.fault(identity)
                if fault:
                    self.left_out.note(fault, row.place)
                else:
                    yield Named(id_text(identity) or "", joined(row.values[column]))

    def _rows(self, name: str, shown: str) -> Iterator[Row]:
        ending = ending_of(Path(name))
        if self._whole:
            yield Row(shown, {"id": shown, "document": "".join(text_lines(name))})
        elif ending in _TEXT or (name == STDIN and not begins_json(standard_input())):
            for number, line in enumerate(text_lines(name), 1):
                if line.strip():
                    yield Row(f"{shown} line {number}", {"document": line})
        elif Path(name).is_file() and ending not in READERS:
            known = f"known are {', '.join([*READERS, *_TEXT])} (--text reads any file as a text)"
            raise BridoError(f"{name}: its ending is unknown; {known}")
        else:
            yield from read_rows(name, shown)

    def _column_of(self, shown: str, values: dict[str, Any]) -> str:
        """The column that holds the document, by the first row of a file."""
        learned = self._learned if self._learned in values else None
        column = self._column or learned or usual(DOCUMENTS, list(values))
        if column is None or column not in values:
            wanted = self._column or f"usual column ({', '.join(DOCUMENTS)})"
            raise BridoError(
                f"{shown}: no {wanted} is there. {keys_of(values)}. Name the one with the "
                "documents: --document-column NAME"
            )
        return column


def _fault(values: dict[str, Any], column: str) -> str:
    """What is wrong with a row's document, "" where nothing is."""
    if column not in values:
        return f"`{column}` is missing"
    document = joined(values[column])
    if not isinstance(document, str):
        return f"`{column}` is {kind(document)}, not a text"
    fault = text_fault(document)
    return f"`{column}` {fault}" if fault else ""


def _as_text(name: str) -> str:
    """A file's name as an id: bytes of it that are not UTF-8 are written as numbers."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
