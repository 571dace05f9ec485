"""A user's own files: JSONL, CSV, TSV or Parquet; a split is given, or cut by a hash of the id.

Rows of one document (several references in rows of their own, annotators) are one document.
"""

import contextlib
import glob
import hashlib
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from brido.corpus.checks import SPLITS, WRITTEN, RawRow, Unlabelled, lacking, raw_row, row_fault
from brido.corpus.settings import FilesSettings
from brido.tables import CORPUS
from brido.text.words import clean
from brido.utils.errors import BridoError, quoted
from brido.utils.files import Row, columns_of, first_rows, read_rows
from brido.utils.paths import user_path
from brido.utils.rows import id_text, is_missing

_KEY = "data.files"


class FilesSource:
    """The rows of the files that `data.files` names, in the order of their names."""

    schema = CORPUS

    def __init__(self, settings: FilesSettings) -> None:
        """Find the files and look at the first rows of each.

        A split without files is cut from `train`: the same id always lands in the same split,
        also when other rows come and go.

        Raises:
            BridoError: all of these together: no such file, a file in two splits, an unreadable
                row among these, a missing column (with those present).
        """
        self.settings = settings
        problems: list[str] = []
        self.files = {
            split: find_files(f"{_KEY}.{split}", getattr(settings, split), problems)
            for split in SPLITS
        }
        paths = [path for files in self.files.values() for path in files]
        twice = [str(path) for path, times in Counter(paths).items() if times > 1]
        problems += [f"{_KEY}: {path} is named more than once" for path in twice]
        columns = {path: self._look_at(path, problems) for path in paths}
        self.has_id = {path: settings.id_column in names for path, names in columns.items()}
        further, named = settings.references_column, list(filter(None, columns.values()))
        if further and named and not any(further in names for names in named):  # some may lack it
            only = f"no file has a column {quoted(further)}, the first only {quoted(named[0])}"
            problems.append(f"{_KEY}.references_column: {only}")
        if problems:
            raise BridoError.from_problems("the files of data.files cannot be used:", problems)
        # By split with files: the further references of documents that stand in several rows.
        self._further: dict[str, dict[bytes, list[list[str]]]] = {}
        self.description = {"source": "files", "settings": settings.model_dump(mode="json")}

    def _look_at(self, path: Path, problems: list[str]) -> list[str]:
        """Return a file's columns; notes those that it lacks."""
        settings = self.settings
        try:
            rows = first_rows(path)
        except BridoError as error:
            problems.append(str(error))
            return []
        columns = list(renamed(settings.rename, dict.fromkeys(columns_of(rows))))
        if rows:  # without one that can be read all of them are counted as bad
            problems += lacking(_KEY, settings, str(path), columns)
        return columns

    def rows(self, split: str) -> Generator[RawRow, None, None]:
        """Yield the rows of a split as a stream."""
        given = getattr(self.settings, split) is not None
        for row in self.documents(split if given else "train"):
            if (not given or split == "train") and self._split_of(row) != split:
                continue
            yield row

    def documents(self, named: str) -> Iterator[RawRow]:
        """Yield the rows of the files of a split, those of one document as its first one.

        Its references are the summaries and references of all of them. Files are read twice;
        memory grows by about 100 bytes a document.
        """
        if named not in self._further:
            self._further[named] = self._repeated(named)
        further, seen = self._further[named], set[bytes]()
        for row in self._rows(named):
            key = _document_key(row)
            if key is None or key not in further:
                yield row
            elif key not in seen:
                seen.add(key)
                others = [text for texts in further[key] for text in texts]
                references = [*(row.references or []), *others]
                yield replace(row, references=references, repeats=len(further[key]))

    def _repeated(self, named: str) -> dict[bytes, list[list[str]]]:
        first, found = set[bytes](), dict[bytes, list[list[str]]]()
        for row in self._rows(named):
            if (key := _document_key(row)) is not None:
                if key in first:
                    found.setdefault(key, []).append([row.summary, *(row.references or [])])
                first.add(key)
        return found

    def _rows(self, named: str) -> Iterator[RawRow]:
        for path in self.files[named]:
            for found in read_rows(path):
                yield self._row(path, found)

    def _row(self, path: Path, found: Row) -> RawRow:
        values = renamed(self.settings.rename, found.values)
        references = _references(values.get(self.settings.references_column or ""))
        others = [values.get(name) for name in self.settings.summary_columns[1:]]
        # Not every document has as many references as the table has columns for them.
        further = [text for text in others if not is_missing(text)]
        if further and isinstance(references, list | None):
            references = further + (references or [])
        return raw_row(
            self.settings, values, found.place, self.has_id[path], references, found.problem
        )

    def _split_of(self, row: RawRow) -> str:
        identity = id_text(row.id)
        if identity is None:
            return "train"  # where it is counted as a bad row
        position = self.position(identity)
        for split, share in self.settings.cut.items():
            position -= share
            if position < 0:
                return split
        return "train"

    def position(self, identity: str) -> float:
        """Where between 0 and 1 an id stands: below the share of validation, then of test."""
        digest = hashlib.sha256(f"{self.settings.split_seed}\0{identity}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64


def renamed(names: Mapping[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """The values of a row, with a column's other name where that is free."""
    free = {old: new for old, new in names.items() if new not in values}
    return {free.get(name, name): value for name, value in values.items()}


def _document_key(row: RawRow) -> bytes | None:
    """What rows of one document have in common; None for a row that adds no reference to one."""
    if row.summary is Unlabelled or id_text(row.id) is None or row_fault(row):
        return None
    return hashlib.blake2b(
        clean(row.document).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def find_files(key: str, patterns: str | list[str] | None, problems: list[str]) -> list[Path]:
    """Return the files that a setting's paths and globs name; note those that match no file."""
    found: list[Path] = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns or []:
        expanded = str(user_path(pattern))
        # A name with brackets or stars that exists is meant as it is.
        names = [expanded] if Path(expanded).is_file() else glob.glob(expanded, recursive=True)
        matches = [path for path in map(Path, sorted(names)) if path.is_file()]
        if not matches:
            hint = "" if Path(expanded).is_absolute() else f" (from {Path.cwd()})"
            if Path(expanded).is_dir():
                hint = f"; it is a folder: {pattern}/*"
            problems.append(f"{key}: no file matches {pattern}{hint}")
        found += matches
    return found


def _references(value: Any) -> Any:
    """Further references: a list, or text with a JSON list (CSV has no lists), or one reference."""
    if is_missing(value):
        return None
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
        # A list of Python or numpy, as pandas writes it into CSV, is refused.
        return value if WRITTEN.fullmatch(value) else [value]
    return [value] if isinstance(value, str) else value
