"""The documents of files and of stdin, one after the other; rows that hold none are left out."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from brido.cli.init.data import DOCUMENTS, usual
from brido.corpus.checks import LeftOut, joined, text_fault
from brido.summarizer.writer import Named
from brido.utils.errors import BridoError, parsing, short
from brido.utils.files import input_lines, read_file
from brido.utils.json_files import begins_json
from brido.utils.json_lines import (
    HALF_PAIR,
    holds_half_pair,
    is_number,
    keys_of,
    kind,
    read_objects,
)
from brido.utils.outputs import standard_input
from brido.utils.progress import say
from brido.utils.text_files import ending_of, open_text, text_lines

STDIN = "-"
_TEXT = (".txt", ".text", ".md")
_JSON = (".jsonl", ".ndjson", ".json")
_TABLES = (".csv", ".tsv", ".parquet")
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*\s*$")
# Lines of a text file by which its kind is told.
_LOOKED_AT = 4
_WRITTEN_JSON = "a text as JSON writes it, with quotes and backslashes (`jq -r` writes it plainly)"


class _Row(NamedTuple):
    """A row of a file: its number and place, its values, and what is wrong with it."""

    number: int
    place: str
    values: dict[str, Any]
    problem: str = ""


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
        if ending_of(path) in _TEXT + _JSON + _TABLES:
            # What was read of a pipe would be lost.
            return self._problem_inside(name) if path.is_file() else ""
        if not path.is_file():
            # `<(command)` of a shell has no ending.
            return f"{name} is a pipe or a device: give what it holds on stdin (-)"
        known = ", ".join(_JSON + _TABLES + _TEXT)
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
        several = len(self._files) > 1
        names = Counter(Path(name).name for name in self._files)
        for name in self._files:
            column = ""
            # Files of one name in several folders keep their folders, and so their own ids.
            own = Path(name).name
            shown = "stdin" if name == STDIN else _as_text(own if names[own] == 1 else name)
            for row in self._rows(name, shown):
                if row.problem:
                    self.left_out.note(row.problem, row.place)
                    continue
                column = column or self._column_of(shown, row.values)
                if fault := _fault(row.values, column):
                    self.left_out.note(fault, row.place)
                    continue
                number = f"{shown}:{row.number}" if several else row.number
                yield Named(_id_of(row.values, number), joined(row.values[column]))

    def _rows(self, name: str, shown: str) -> Iterator[_Row]:
        ending = "" if name == STDIN else ending_of(Path(name))
        if self._whole:
            yield _Row(1, shown, {"id": shown, "document": "".join(_texts(name))})
        elif ending in _TABLES:
            for number, (place, values) in enumerate(read_file(Path(name)), 1):
                yield _Row(number, place, values)
        else:
            yield from _lines(name, shown, ending)

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
    if fault := text_fault(document):
        return f"`{column}` {fault}"
    return HALF_PAIR if holds_half_pair([document, _own_id(values)]) else ""


def _id_of(values: dict[str, Any], number: str | int) -> str | float:
    """The row's id, or its number where it has none.

    pandas makes numbers such as 7.0 of ids where one is missing; Parquet has dates and more.
    """
    own = _own_id(values)
    if is_number(own):
        return own
    is_none = own is None or own == "" or isinstance(own, float | bool | list | dict | bytes)
    return number if is_none else str(own)


def _own_id(values: dict[str, Any]) -> Any:
    """What a row has under `id`, in capitals or not."""
    column = usual(("id",), list(values))
    # A column without a name, as pandas writes its index, is none.
    return None if column is None else values[column]


def _as_text(name: str) -> str:
    """A file's name as an id: bytes of it that are not UTF-8 are written as numbers."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _texts(name: str) -> Iterator[str]:
    """The lines of a text file or of stdin."""
    path = Path("stdin" if name == STDIN else name)
    with parsing(lambda reason: f"{path} cannot be read: {reason}"):
        if name == STDIN:
            yield from text_lines(path, standard_input())
            return
        with open_text(path) as stream:
            yield from text_lines(path, stream)


def _lines(name: str, shown: str, ending: str) -> Iterator[_Row]:
    """JSON lines, the items of a JSON array, or a text a line; of stdin the first signs decide."""
    if ending in _JSON or (name == STDIN and begins_json(standard_input())):
        with input_lines(name) as lines:
            for number, values, problem in read_objects(lines):
                yield _Row(number, f"{shown} line {number}", values, problem)
        return
    opened, known = 0, 0
    for number, line in enumerate(_texts(name), 1):
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
            yield _Row(number, f"{shown} line {number}", {"document": line}, fault)


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
