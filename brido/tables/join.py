"""The one join over a split's tables: documents with their candidates, by id.

All tables of a split hold their documents in the corpus' order. The pool says which documents have
candidates; similarity, support, likelihood and scores hold exactly these, and corpus and decoded
tables may hold further documents between them.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from brido.tables.documents import CandidateDocument as CandidateDocument
from brido.tables.documents import Documents, similarity_size
from brido.tables.fingerprint import content_hash
from brido.tables.read import (
    Part,
    Table,
    cut,
    has_facts,
    open_table,
    other_documents,
    read_batches,
    read_metadata,
    walk,
)
from brido.tables.schemas import (
    CORPUS,
    DECODED,
    LIKELIHOOD,
    POOL,
    SCORES,
    SUPPORT,
    similarity_schema,
)
from brido.utils.errors import BridoError, quoted


@dataclass(frozen=True)
class SplitTables:
    """Where the tables of a split are; those that are not read may be None.

    `decoded` are the summaries of each system, of which `variants` come from a stage of their own.
    """

    pool: Path
    corpus: Path | None = None
    similarity: Path | None = None
    support: Path | None = None
    likelihood: Path | None = None
    scores: Path | None = None
    decoded: Mapping[str, Path] = field(default_factory=dict)
    variants: Container[str] = ()

    @classmethod
    def at(
        cls,
        data: Path,
        split: str,
        systems: Sequence[str] = (),
        tuned: str | None = None,
        variants: Container[str] = (),
    ) -> "SplitTables":
        """The tables of a split below the folder `data`.

        systems: whose summaries; tuned: the system whose scores, None without scores; variants: the
        keys of section variants.
        """
        name = f"{split}.parquet"
        return cls(
            pool=data / "pool" / name,
            corpus=data / "corpus" / name,
            similarity=data / "similarity" / name,
            support=data / "support" / name,
            likelihood=data / "likelihood" / name,
            scores=None if tuned is None else data / "scores" / tuned / name,
            decoded={system: data / "decoded" / system / name for system in systems},
            variants=variants,
        )

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """The table of a field's name with these columns.

        Raises:
            BridoError: `similarity` is not a similarity table.
        """
        path = getattr(self, name)
        if name == "similarity":
            schema = similarity_schema(num_candidates(path, "pairwise"))
            return Table(path, schema, "pairwise", tuple(columns))
        schema, stage = _STAGES[name]
        if "facts" in columns and not has_facts(path):
            columns = [column for column in columns if column != "facts"]
        return Table(path, schema, stage, tuple(columns))

    def summaries(self) -> dict[str, Table]:
        """The table of each system's summaries."""
        return {
            system: Table(path, DECODED, decoded_by(system, self.variants), ("summary",))
            for system, path in self.decoded.items()
        }


# Of each column: the field of SplitTables that holds it, and its name there.
COLUMNS = {
    **{name: ("pool", name) for name in POOL.names[1:]},
    **{name: ("corpus", name) for name in ("document", "references", "facts")},
    "reference": ("corpus", "summary"),
    "similarity": ("similarity", "similarity"),
    **{name: ("support", name) for name in SUPPORT.names[1:]},
    **{name: ("likelihood", name) for name in LIKELIHOOD.names[1:]},
    **{name: ("scores", name) for name in SCORES.names[1:]},
}
_STAGES = {
    "pool": (POOL, "pool"),
    "corpus": (CORPUS, "download"),
    "support": (SUPPORT, "support"),
    "likelihood": (LIKELIHOOD, "likelihood"),
    "scores": (SCORES, "score"),
}
# Stages of dvc.yaml that make summaries; a tuned system's and a variant's is named like it.
_DECODED_BY = {"reference": "download", "elected": "elect", "base": "decode_base"}
# Lists that do not hold a value for each candidate.
_NOT_BY_CANDIDATE = {"references", "facts"}


def decoded_by(system: str, variants: Container[str]) -> str:
    """The stage that makes a system's summaries, as `dvc repro` takes it.

    variants: the keys of section variants, whose systems a stage of its own decodes.
    """
    stage = "vary" if system in variants else "decode"
    return _DECODED_BY.get(system, f"{stage}@{system}")


def read_documents(
    tables: SplitTables, columns: Sequence[str], part: Part | None = None
) -> Iterator[Documents]:
    """The documents that have candidates, in batches, with these columns; constant memory.

    columns: keys of COLUMNS, and `summaries` for the texts of all systems in `tables.decoded`.
    part: only these documents, None for all of them.

    Raises:
        BridoError: a table is missing or damaged, holds other documents than the pool, was computed
            from other candidates, or its lists do not hold a value for each candidate.
    """
    wanted: dict[str, list[str]] = {"pool": []}
    places = {column: COLUMNS[column] for column in columns if column != "summaries"}
    for table, name in places.values():
        wanted.setdefault(table, []).append(name)
    found = {name: tables.table(name, names) for name, names in wanted.items()}
    decoded = tables.summaries() if "summaries" in columns else {}
    pool, same = found["pool"], [found[name] for name in found if name not in ("pool", "corpus")]
    within = [*([found["corpus"]] if "corpus" in found else []), *decoded.values()]
    _check_candidates(pool, same)
    size = 0
    for batches in walk(pool, same, within, part):
        by_table = dict(zip([pool, *same, *within], batches, strict=True))
        documents = Documents(
            batches[0].column("id").to_pylist(),
            {
                column: by_table[found[table]].column(name)
                for column, (table, name) in places.items()
                if name in found[table].columns
            },
            {system: by_table[table].column("summary") for system, table in decoded.items()},
        )
        size = _check_lists(documents, size, found)
        yield documents


def parts_of(
    tables: SplitTables, size: int, cutting: Callable[[int], Sequence[range]] | None = None
) -> list[Part]:
    """The documents that have candidates in parts of `size`: units of work for `read_documents`.

    cutting: what cuts a number of documents into other parts.

    Raises:
        BridoError: a document is not in the corpus, or is in another order there.
    """
    pool, corpus = tables.table("pool", ()), tables.table("corpus", ())
    ids, places, found = pool.ids(), enumerate(corpus.ids()), []
    for rows in cutting(len(ids)) if cutting else cut(len(ids), size):
        where = [next((n for n, other in places if other == ids[row]), -1) for row in rows]
        if -1 in where:
            raise other_documents(corpus, pool, ids[rows[where.index(-1)]])
        found.append(Part(rows, range(where[0], where[-1] + 1)))
    return found


def num_candidates(path: Path, stage: str = "pool") -> int:
    """N of a pool or of a similarity table.

    Raises:
        BridoError: it is neither, or holds no candidates.
    """
    with open_table(path, None, stage) as file:
        schema = file.schema_arrow
    if "similarity" in schema.names:
        size = similarity_size(schema.field("similarity").type)
    else:
        first = next(read_batches(path, POOL, "pool", ["candidates"], rows=1), None)
        size = 0 if first is None else len(first.column(0)[0])
    if not size:
        raise BridoError(f"{path} has no candidates: make it again with `dvc repro -sf {stage}`")
    return size


def _check_candidates(pool: Table, tables: Sequence[Table]) -> None:
    """Raise BridoError if a table was computed from other candidates than those of the pool."""
    hashed = {table: read_metadata(table.path, table.stage).get("candidates") for table in tables}
    # A pool without metadata is not of stage pool, and neither are the tables of stages.
    unsaid_is_fine = not read_metadata(pool.path, pool.stage)
    own = content_hash(pool.path) if tables else None
    fine = (own, None) if unsaid_is_fine else (own,)
    if wrong := [table for table, value in hashed.items() if value not in fine]:
        raise BridoError(
            f"{wrong[0].path} was computed from other candidates than those of {pool.path}: "
            f"`dvc repro -sf {' '.join(table.stage for table in wrong)}`"
        )


def _check_lists(documents: Documents, size: int, found: Mapping[str, Table]) -> int:
    """N, the length of all lists; raise BridoError if one has another length."""
    for column, values in documents.columns.items():
        if column in _NOT_BY_CANDIDATE or not pa.types.is_list(values.type):
            continue
        lengths = pc.list_value_length(values).fill_null(-1).to_pylist()
        size = size or max(lengths[0], 1)
        for name, length in zip(documents.ids, lengths, strict=True):
            if length != size:
                table = found[COLUMNS[column][0]]
                raise BridoError(
                    f"{table.path}, id {quoted(name)}: `{column}` must have {size} values, one a "
                    f"candidate: `dvc repro -sf {table.stage}`"
                )
    return size
