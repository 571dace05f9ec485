"""The documents of files and of stdin, one after the other; rows that hold none are left out."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from brido.cli.init.data import DOCUMENTS, usual
from brido.corpus.checks import joined, text_fault
from brido.summarizer.writer import Named
from brido.utils.errors import BridoError, short
from brido.utils.files import READERS, Row, read_rows
from brido.utils.ids import Ids, id_text
from brido.utils.json_lines import keys_of, kind
from brido.utils.left_out import LeftOut
from brido.utils.progress import say
from brido.utils.text_files import STDIN, begins_json, ending_of, standard_input, text_lines

_TEXT = (".txt", ".text", ".md")
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*\s*$")
# Lines of a text file by which its kind is told.
_LOOKED_AT = 4
_WRITTEN_JSON = "a text as JSON writes it, with quotes and backslashes (`jq -r` writes it plainly)"


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
        self._learned = learned
        self.left_out = LeftOut()
        problems = [problem for name in self._files if (problem := self._problem(name))]
        problems += [
            f"{name} is named more than once"
            for name, times in Counter(map(Path, self._files)).items()
            if times > 1
        ]
        if problems:
            raise BridoError.from_problems("the documents cannot be read:", problems)

    @property
    def paths(self) -> list[Path]:
        """The files, without stdin."""
        return [Path(name) for name in self._files if name != STDIN]

    def _problem(self, name: str) -> str:
        path = Path(name)
        if name == STDIN:
            return ""
        if not path.exists():
            return f"{name}: there is no such file"
        if path.is_dir():
            return (
                f"{name} is a folder: name its files ({name}/*; with --text each is one document)"
            )
        if self._whole:
            return ""
        if ending_of(path) in (*_TEXT, *READERS):
            # What was read of a pipe would be lost.
            return self._problem_inside(name) if path.is_file() else ""
        if not path.is_file():
            # `<(command)` of a shell has no ending.
            return f"{name} is a pipe or a device: give what it holds on stdin (-)"
        known = ", ".join([*READERS, *_TEXT])
        return f"{name}: its ending is unknown; known are {known} (--text reads any file as a text)"

    def _problem_inside(self, name: str) -> str:
        """What is wrong at the start of a file: of the last one, better known before the first."""
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
                if row.problem:
                    self.left_out.note(row.problem, row.place)
                    continue
                column = column or self._column_of(shown, row.values)
                if fault := _fault(row.values, column):
                    self.left_out.note(fault, row.place)
                    continue
                own_id = usual(("id",), list(row.values))
                made = f"{shown}:{number}" if several else number
                identity = made if own_id is None else row.values[own_id]
                if fault := ids.fault(identity):
                    self.left_out.note(fault, row.place)
                    continue
                yield Named(id_text(identity) or "", joined(row.values[column]))

    def _rows(self, name: str, shown: str) -> Iterator[Row]:
        if self._whole:
            text = "".join(text_lines(name))
            yield Row(shown, {"id": shown, "document": text})
        elif begins_json(standard_input()) if name == STDIN else ending_of(Path(name)) in READERS:
            yield from read_rows(name, shown)
        else:
            yield from _texts(name, shown)

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


def _texts(name: str, shown: str) -> Iterator[Row]:
    """A text a line."""
    opened, known = 0, 0
    for number, line in enumerate(text_lines(name), 1):
        if number == 1 and _names_columns(line):
            raise BridoError(
                f"{shown} begins as a table does ({short(line.strip())}), and each line would be a "
                "document: give the table as a file whose name ends in .csv or .tsv"
            )
        if line.strip():
            known += 1
            opened += _SENTENCE_END.search(line) is None
            if known == _LOOKED_AT and 2 * opened > known:
                say(
                    f"summarize: warning: each line of {shown} is a document, and {opened} of the "
                    f"first {known} break off inside a sentence: --text reads a file as one"
                )
            fault = _WRITTEN_JSON if _is_written_json(line) else ""
            yield Row(f"{shown} line {number}", {"document": line}, fault)


def _names_columns(line: str) -> bool:
    """Whether a line is a table's first one: several short names, a usual one of documents."""
    names = [name.strip("\"' \r\n") for name in re.split(r"[,;\t|]", line)]
    is_short = all(re.fullmatch(r"[\w .-]{0,30}", name) for name in names)
    return len(names) > 1 and is_short and usual(DOCUMENTS, names) is not None


def _is_written_json(line: str) -> bool:
    """Whether a line is a text as JSON writes it: in quotes, and with backslashes for others."""
    if not line.startswith('"') or "\\" not in line:
        return False
    with suppress(ValueError):
        return isinstance(json.loads(line), str)
    return False
