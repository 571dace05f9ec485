"""The support table: every candidate checked against its source document.

The *checker* that params.yaml names says how much of a text is supported. What counts the
unsupported details is the *judge*: the facts of the embedded world if the corpus has them, which
are exact, else the checker itself.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.checkers.settings import SupportSettings
from brido.checkers.texts import SourceText, check_texts, make_checker
from brido.checkers.wholeness import RULES
from brido.tables import has_facts
from brido.tables.join import Part, SplitTables, parts_of, read_documents
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result


@dataclass(frozen=True)
class SupportUnit:
    """A part of the documents of a split, with their candidates."""

    tables: SplitTables
    part: Part

    def __len__(self) -> int:
        return len(self.part)


def units(tables: SplitTables, size: int) -> list[SupportUnit]:
    """The work on a split in parts of `size` documents; BridoError as `parts_of`."""
    return [SupportUnit(tables, part) for part in parts_of(tables, size)]


def judge_of(corpus: Path, settings: SupportSettings) -> dict[str, Any]:
    """What counts the unsupported details, for the support table's metadata.

    rules: by which a text is whole, "" for the world's grammar.
    """
    exact = has_facts(corpus)
    judge = "facts of the world" if exact else settings.checker
    return {"judge": judge, "rules": "" if exact else RULES}


class SupportWorker:
    """Makes the rows of the support table of a unit's documents.

    Made from sections `support` and `runtime`; then see `brido.work.worker.MakeWorker`.
    """

    def __init__(
        self, settings: SupportSettings, runtime: RuntimeSettings, device: str, advance: Advance
    ) -> None:
        self._checker = make_checker(settings, runtime, device)

    def __call__(self, unit: SupportUnit) -> Result:
        """A row for each document, its texts in the order of their table."""
        columns = ["document", "facts", "reference", "candidates"]
        batches = read_documents(unit.tables, columns, unit.part)
        documents = [one for batch in batches for one in batch]
        sources = [SourceText(one.document, one.reference, one.facts) for one in documents]
        checked = check_texts(sources, [one.candidates for one in documents], self._checker)
        rows = [{"id": one.id} | row for one, row in zip(documents, checked, strict=True)]
        return rows, {}
