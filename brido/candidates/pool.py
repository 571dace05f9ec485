"""The candidates of all sources, joined: who wrote what, who votes, and who can be elected."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from brido.candidates.cleaning import RULES, clean
from brido.candidates.documents import vote_warning
from brido.candidates.settings import PoolSettings
from brido.tables import CANDIDATES, CORPUS, POOL, ROWS_PER_GROUP
from brido.tables.join import Table, walk
from brido.utils.errors import BridoError, some
from brido.utils.rows import is_blank

Row = dict[str, Any]
# What is told of candidates: they are changed, or do not vote.
_TOLD = ("cleaned", "not_ended", "empty", "refused")
_MENDS = (
    "not ended or empty: raise max_length of the source, or max_answer_tokens of a server, whose "
    "model may spend them on its thoughts (docs/deploy.md switches them off)"
)


class Pool:
    """One split's candidates of several sources, each a table; in the order of `tables`.

    `corpus` has the documents, in the candidates' order, others between them allowed.
    Candidates are cleaned by `settings.clean`. One that did not end, is empty or refuses to answer
    does not vote and cannot be elected; of the others those can be elected whose source is in
    `settings.eligible`. A document with fewer than `settings.minimum` of these is refused or left
    out.

    `counts`, `warnings` and `left_out` say what happened, once `rows` has been read to its end.
    """

    def __init__(self, tables: dict[str, Path], corpus: Path, settings: PoolSettings) -> None:
        self._tables, self._corpus, self._settings = tables, corpus, settings
        self._eligible = set(tables if settings.eligible is None else settings.eligible)
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in tables}
        self._distinct: Counter[str] = Counter()
        self._documents = 0
        self.left_out: list[str] = []

    def rows(self) -> Iterator[list[Row]]:
        """Yield the rows of the pool's table, in lists of a row group's size; constant memory.

        Raises:
            BridoError: a table is missing or damaged, the tables hold different documents, one of
                them is not in the corpus, or too few candidates of a document can be elected (all
                such documents named): of one document, or of all where `too_few` is leave_out.
        """
        good, least = self._good(), self._settings.minimum
        while batch := list(islice(good, ROWS_PER_GROUP)):
            yield batch
        if self.left_out and len(self.left_out) == self._documents:
            raise BridoError.from_problems(
                f"no document has {least} candidates that can be elected ({some(self.left_out)}):",
                [*self._told(), _MENDS],
            )
        if self.left_out and self._settings.too_few == "refuse":
            raise BridoError(
                f"{len(self.left_out):,} documents have fewer than {least} candidates that can be "
                f"elected: {some(self.left_out)}. The others did not end, are empty, refuse to "
                "answer, or come from sources that pool.eligible leaves out. Make more "
                "candidates, or set pool.too_few to leave_out"
            )

    def notes(self) -> Iterator[str]:
        """Yield what a user should know of the pool, a line each, once `rows` has been read."""
        yield from self._told()
        if self.left_out:
            yield (
                f"{len(self.left_out):,} documents are left out because too few of their "
                f"candidates can be elected: {some(self.left_out)}"
            )

    def warnings(self) -> list[str]:
        """A sentence for every source whose candidates cannot support a vote."""
        found = []
        for name, count in self.counts.items():
            numbers = count["candidates"], count["not_ended"], self._distinct[name]
            found.append(vote_warning(name, self._documents, *numbers))
        return [sentence for sentence in found if sentence]

    def _told(self) -> Iterator[str]:
        """What became of each source's candidates, and by which rules."""
        for name, count in self.counts.items():
            told = [f"{count[what]:,} {what.replace('_', ' ')}" for what in _TOLD if count[what]]
            rules = [f"{count[rule]:,} {rule}" for rule in RULES if count[rule]]
            by = f" (rules: {', '.join(rules)})" if rules else ""
            if told:
                yield f"of {count['candidates']:,} candidates of {name}: {', '.join(told)}{by}"

    def _good(self) -> Iterator[Row]:
        """Yield rows with enough candidates that can be elected; other ids go to `left_out`."""
        columns = tuple(CANDIDATES.names[1:])
        first, *others = [
            Table(path, CANDIDATES, f"generate@{name}", columns)
            for name, path in self._tables.items()
        ]
        sizes: dict[str, int] = {}
        for *batches, _ in walk(first, others, [Table(self._corpus, CORPUS, "download")]):
            for parts in zip(*(batch.to_pylist() for batch in batches), strict=True):
                self._documents += 1
                row: Row = {name: [] for name in POOL.names}
                for name, part in zip(self._tables, parts, strict=True):
                    size = sizes.setdefault(name, max(1, len(part["candidates"])))
                    if any(len(part[column]) != size for column in columns):
                        raise BridoError(
                            f"{self._tables[name]}: every document must have {size} candidates, "
                            f"search_scores and values of ended ({part['id']} has not): `dvc repro "
                            f"-sf generate@{name}`"
                        )
                    self._add(row, name, part)
                if sum(row["eligible"]) >= self._settings.minimum:
                    yield row
                else:
                    self.left_out.append(row["id"])

    def _add(self, row: Row, name: str, part: Row) -> None:
        """Add a source's candidates of a document to the document's row, and count them."""
        row["id"], count, first = part["id"], self.counts[name], len(row["raw"])
        values = (part["candidates"], part["search_scores"], part["ended"])
        for raw, score, ended in zip(*values, strict=True):
            cleaned = clean(raw, self._settings.clean)
            text = "" if is_blank(cleaned.text) else cleaned.text
            votes = ended and cleaned.answers
            count["candidates"] += 1
            changed = len(cleaned.rules) > cleaned.refused  # refusal takes nothing off
            count.update(cleaned.rules, cleaned=changed, refused=cleaned.refused)
            count.update(not_ended=not ended, empty=not text)
            row["candidates"].append(text)
            row["raw"].append(raw)
            row["sources"].append(name)
            row["voters"].append(votes)
            row["eligible"].append(votes and name in self._eligible)
            row["search_scores"].append(score)
            row["ended"].append(ended)
        self._distinct[name] += len(set(row["candidates"][first:]))
