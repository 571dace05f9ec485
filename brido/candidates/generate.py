"""Candidates of all documents, from whatever source, and what is told about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from brido.candidates.cleaning import clean
from brido.candidates.documents import Part
from brido.candidates.look import Example, Look
from brido.candidates.sources import SOURCES, Request
from brido.tables import CANDIDATES, CORPUS, GROUPED_CANDIDATES
from brido.tables.join import Table, walk
from brido.utils.errors import BridoError, some
from brido.work.shards import fingerprint
from brido.work.splits import Splits
from brido.work.worker import Advance, MakeWorker, Result

# Documents of a split that are looked at as soon as their candidates are there.
LOOKED_AT = 200


def generate(request: Request) -> Splits:
    """Make the candidates of every split; what an earlier call has finished is not made again.

    Raises:
        BridoError: the method is unknown, the source refuses, or a row has another number of
            candidates than `num_candidates`.
    """
    settings, runtime = request.settings, request.runtime
    if settings.method not in SOURCES:
        known = ", ".join(SOURCES)
        raise BridoError(
            f"generation.{request.name}.method: {settings.method} is unknown; known are {known}"
        )
    plan = SOURCES[settings.method](request)
    grouped = settings.method == "diverse_beam" and settings.num_beam_groups > 1
    schema = GROUPED_CANDIDATES if grouped else CANDIDATES
    # Shards of another size are other shards, though they make the same table.
    key = fingerprint(
        [settings, request.reading, runtime.shard_documents, schema.names],
        [*(documents.path for documents in request.documents.values()), *plan.inputs],
    )
    units = {
        split: documents.parts(runtime.shard_documents)
        for split, documents in request.documents.items()
    }
    label = f"generate {request.name}"
    work = Splits(f"generate/{request.name}", key, schema, units)
    make = partial(_Counting, plan.make_worker, settings.num_candidates, request.name)
    work.run(make, plan.workers, label, runtime.log_seconds)
    return work


class _Counting:
    """A source's worker, and counts of what it makes."""

    def __init__(
        self, make_worker: MakeWorker, size: int, name: str, device: str, advance: Advance
    ) -> None:
        self._worker, self._size, self._name = make_worker(device, advance), size, name

    def __call__(self, part: Part) -> Result:
        rows, counts = self._worker(part)
        candidates = [row["candidates"] for row in rows]
        wrong = [row["id"] for row in rows if len(row["candidates"]) != self._size]
        if wrong:
            raise BridoError(
                f"{len(wrong)} documents got another number of candidates than "
                f"generation.{self._name}.num_candidates ({self._size}): {some(wrong)}"
            )
        return rows, counts | {
            "documents": len(rows),
            "distinct": sum(len(set(texts)) for texts in candidates),
            "not_ended": sum(row["ended"].count(False) for row in rows),
            "empty_candidates": sum(texts.count("") for texts in candidates),
        }


def describe(request: Request, split: str, work: Splits) -> dict[str, Any]:
    """What is true of the whole table of a split: the settings used, and what happened."""
    totals = work.totals(split)
    documents = max(totals["documents"], 1)
    return {
        "generation": request.settings.model_dump(mode="json"),
        "reading": request.reading.model_dump(mode="json"),
        "documents": totals["documents"],
        "left_out_empty": request.documents[split].left_out,
        "truncated_sources": totals["truncated_sources"],
        "distinct_candidates": totals["distinct"] / documents,
        "not_ended": totals["not_ended"],
        "empty_candidates": totals["empty_candidates"],
        "halved_batches": totals["halved_batches"],
    } | _of_a_server(totals)


def _of_a_server(totals: Counter[str]) -> dict[str, dict[str, int]]:
    """How its answers ended and which models it says gave them, counted; else nothing."""
    found: dict[str, dict[str, int]] = {}
    for name, count in sorted(totals.items()):
        kind, colon, what = name.partition(": ")
        if colon:
            found.setdefault(kind, {})[what] = count
    return found


def notes(description: dict[str, Any]) -> Iterator[str]:
    """What a user should know of a table that `describe` describes, a line each."""
    yield (
        f"{description['documents']:,} documents, {description['distinct_candidates']:.1f} of "
        f"{description['generation']['num_candidates']} candidates distinct"
    )
    left_out, truncated = description["left_out_empty"], description["truncated_sources"]
    if left_out:
        yield f"{len(left_out)} empty documents left out ({some(left_out)})"
    if truncated:
        yield f"{truncated:,} sources cut to {description['reading']['max_source_tokens']} tokens"
    if description["empty_candidates"]:
        yield f"{description['empty_candidates']:,} candidates are empty"
    if description["not_ended"]:
        yield f"{description['not_ended']:,} candidates did not end"
    for kind in ("finish_reasons", "served_models"):
        if kind in description:
            counts = (f"{count:,} {name}" for name, count in description[kind].items())
            yield f"{kind.replace('_', ' ')}: {', '.join(counts)}"
    if description["halved_batches"]:
        yield f"{description['halved_batches']} batches halved for memory"


def look_at(candidates: Path, corpus: Path, source: str) -> tuple[Look, Example | None]:
    """A look at the first documents of a source's table, and the first of them as an example."""
    look, first = Look(), None
    for example in islice(_examples(candidates, corpus, source), LOOKED_AT):
        look.add(example)
        first = first or example
    return look, first


def _examples(candidates: Path, corpus: Path, source: str) -> Iterator[Example]:
    """The documents that have candidates, which are cleaned as stage pool does by default."""
    made = Table(candidates, CANDIDATES, f"generate@{source}", ("candidates", "ended"))
    read = Table(corpus, CORPUS, "download", ("document", "references"))
    for rows, documents in walk(made, [], [read]):
        for row, known in zip(rows.to_pylist(), documents.to_pylist(), strict=True):
            texts = [clean(text).text for text in row["candidates"]]
            yield Example(known["document"], known["references"], texts, row["ended"])
