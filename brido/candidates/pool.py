"""The candidates of all sources, joined: who wrote what, who votes, and who can be elected."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from brido.candidates.cleaning import RULES, clean
from brido.candidates.look import Example, Look
from brido.candidates.settings import PoolSettings
from brido.tables import CANDIDATES, CORPUS, POOL, ROWS_PER_GROUP
from brido.tables.join import Table, walk
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError, some

Row = dict[str, Any]
# What is told of candidates: they are changed, or do not vote.
_TOLD = {"cleaned": "cleaned", "not_ended": "not ended", "empty": "empty", "refused": "refused"}
# What helps where no document is left.
_MENDS = (
    "not ended or empty: raise max_answer_tokens (a server whose finish_reasons say length) or "
    "max_length of the source, or switch the server's tools off (tool_calls). A model that thinks "
    "before it answers may spend them all on its thoughts: docs/deploy.md has the field of "
    "extra_parameters that switches them off"
)


class Pool:
    """One split's candidates of several sources, each a table; in the order of `tables`.

    `corpus` has the documents, in the candidates' order, others between them allowed.
    Candidates are cleaned by `settings.clean`. One that did not end, is empty or refuses to answer
    does not vote and cannot be elected; of the others those can be elected whose source is in
    `settings.eligible`. A document with fewer than `settings.minimum` of these is refused or left
    out.

    `counts`, `looks` and `left_out` say what happened, once `rows` has been read to its end.
    """

    def __init__(self, tables: dict[str, Path], corpus: Path, settings: PoolSettings) -> None:
        self._tables, self._corpus, self._settings = tables, corpus, settings
        eligible = settings.eligible
        self._eligible = set(tables if eligible is None else eligible)
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in tables}
        self.looks = {name: Look() for name in tables}
        self.left_out: list[str] = []

    def rows(self) -> Iterator[list[Row]]:
        """Yield the rows of the pool's table, in lists of a row group's size; constant memory.

        Raises:
            BridoError: a table is missing or damaged, the tables hold different documents, one of
                them is not in the corpus, or too few candidates of a document can be elected (all
                such documents named): of one document, or of all where `too_few` is leave_out.
        """
        good, kept = self._good(), 0
        while batch := list(islice(good, ROWS_PER_GROUP)):
            kept += len(batch)
            yield batch
        if self.left_out and not kept:
            raise BridoError.from_problems(
                f"no document has {self._settings.minimum} candidates that can be elected "
                f"({some(self.left_out)}):",
                [*self._told(), _MENDS],
            )
        if self.left_out and self._settings.too_few == "refuse":
            raise BridoError(
                f"{len(self.left_out):,} documents have fewer than {self._settings.minimum} "
                f"candidates that can be elected: {some(self.left_out)}. The others did not end, "
                "are empty, refuse to answer, or come from sources that pool.eligible leaves out. "
                "Make more candidates, or set pool.too_few to leave_out"
            )

    def notes(self) -> Iterator[str]:
        """Yield what a user should know of the pool, a line each, once `rows` has been read."""
        yield from self._told()
        look = next(iter(self.looks.values())).counts
        if 2 * look["english"] < look["documents"]:
            yield (
                "the documents do not look English: the rules that take off preambles and labels "
                "and find refusals know English alone (pool.clean; docs/configuration.md)"
            )
        if self.left_out:
            yield (
                f"{len(self.left_out):,} documents are left out because too few of their "
                f"candidates can be elected: {some(self.left_out)}"
            )

    def _told(self) -> Iterator[str]:
        """What became of each source's candidates."""
        for name, count in self.counts.items():
            told = [f"{count[what]:,} {words}" for what, words in _TOLD.items() if count[what]]
            rules = [f"{count[rule]:,} {rule}" for rule in RULES if count[rule]]
            if told:
                by = f" (rules: {', '.join(rules)})" if rules else ""
                yield f"of {count['candidates']:,} candidates of {name}: {', '.join(told)}{by}"

    def _good(self) -> Iterator[Row]:
        """Yield rows with enough candidates that can be elected; other ids go to `left_out`."""
        columns = tuple(CANDIDATES.names[1:])
        first, *others = [
            Table(path, CANDIDATES, f"generate@{name}", columns)
            for name, path in self._tables.items()
        ]
        corpus = Table(self._corpus, CORPUS, "download", ("document", "references"))
        sizes: dict[str, set[int]] = {name: set() for name in self._tables}
        for *batches, documents in walk(first, others, [corpus]):
            for name, batch in zip(self._tables, batches, strict=True):
                self._check_sizes(name, batch, sizes[name])
            known = documents.to_pylist()
            rows = zip(*(batch.to_pylist() for batch in batches), strict=True)
            for one, parts in zip(known, rows, strict=True):
                by_source = dict(zip(self._tables, parts, strict=True))
                row = self._row(by_source, one["document"], one["references"])
                if sum(row["eligible"]) >= self._settings.minimum:
                    yield row
                else:
                    self.left_out.append(row["id"])

    def _check_sizes(self, name: str, batch: pa.RecordBatch, sizes: set[int]) -> None:
        """Raise BridoError unless all rows of a source have as many values in every list.

        sizes: the numbers in the rows before, to which those of this batch are added.
        """
        for column in CANDIDATES.names[1:]:
            sizes.update(pc.list_value_length(batch.column(column)).fill_null(0).to_pylist())
        if len(sizes) > 1 or 0 in sizes:
            raise BridoError(
                f"{self._tables[name]}: every document must have as many candidates, search_scores "
                f"and values of ended (some have {', '.join(map(str, sorted(sizes)))}); make it "
                f"again with `dvc repro -sf generate@{name}`"
            )

    def _row(self, parts: dict[str, Row], document: str, references: list[str]) -> Row:
        row: Row = {name: [] for name in POOL.names}
        for name, part in parts.items():
            row["id"], count = part["id"], self.counts[name]
            for raw, score, ended in zip(
                part["candidates"], part["search_scores"], part["ended"], strict=True
            ):
                cleaned = clean(raw, self._settings.clean)
                text, rules, refused = cleaned
                text = "" if is_blank(text) else text
                count["candidates"] += 1
                changed = len(rules) > refused  # refusal takes nothing off
                count.update(rules, cleaned=changed, refused=refused)
                count.update(not_ended=not ended, empty=not text)
                votes = ended and cleaned.answers
                row["candidates"].append(text)
                row["raw"].append(raw)
                row["sources"].append(name)
                row["voters"].append(votes)
                row["eligible"].append(votes and name in self._eligible)
                row["search_scores"].append(score)
                row["ended"].append(ended)
            own = row["candidates"][-len(part["candidates"]) :]
            self.looks[name].add(Example(document, references, own, part["ended"]))
        return row
