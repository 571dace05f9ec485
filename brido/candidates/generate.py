"""Candidates of all documents, from any source, and what is told about them.

A source is a function, one for each `generation.SOURCE.method`. It gets a `Request`, refuses what
it cannot do with a BridoError, and answers with a `SourcePlan`: who makes the candidates.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from brido.candidates.documents import (
    DocumentPart,
    SplitDocuments,
    cut_warning,
    shard_keys,
    vote_warning,
    writing_work,
)
from brido.candidates.settings import DiverseBeamGeneration, SamplingGeneration
from brido.models.settings import ReadingSettings
from brido.tables import CANDIDATES, GROUPED_CANDIDATES
from brido.utils.errors import BridoError, short, some
from brido.utils.files import read_rows
from brido.utils.paths import user_path
from brido.utils.rows import Ids, LeftOut, id_text, texts_problem
from brido.work.running import HERE, Splits
from brido.work.settings import RuntimeSettings
from brido.work.shards import fingerprint
from brido.work.worker import Advance, MakeWorker, Result, Worker, Workers, model_workers


class Request(NamedTuple):
    """What a source is asked for.

    name: its key in `generation`. settings: section `generation.NAME`, in the form of its method.
    reading: how the checkpoint reads. checkpoint: the folder of the model, there or not.
    documents: those of each split.
    """

    name: str
    settings: Any
    reading: ReadingSettings
    runtime: RuntimeSettings
    checkpoint: Path
    documents: dict[str, SplitDocuments]


class SourcePlan(NamedTuple):
    """Who makes the candidates.

    make_worker: makes workers that answer a `DocumentPart` with rows of the candidates table
    (`brido.tables.CANDIDATES`), num_candidates candidates in each. workers: how many, and where.
    inputs: files and folders that the candidates depend on, besides the documents.
    """

    make_worker: MakeWorker
    workers: Workers = HERE
    inputs: tuple[Path, ...] = ()


def _local(request: Request) -> SourcePlan:
    from brido.candidates.local import CandidateWorker

    folder, runtime, settings = request.checkpoint, request.runtime, request.settings
    if not folder.is_dir():
        raise BridoError(f"{folder} is missing: make it with `dvc repro checkpoint@{folder.name}`")
    make = partial(CandidateWorker, folder, request.reading, runtime, settings, settings.guidance)
    return SourcePlan(make, model_workers(runtime), inputs=(folder,))


def _files(request: Request) -> SourcePlan:
    """Read a file of the user's for each split; all problems of a file are named at once."""
    rows: dict[tuple[Path, str], dict[str, Any]] = {}
    files = []
    for split, documents in request.documents.items():
        files.append(user_path(getattr(request.settings.files, split)))
        number = request.settings.num_candidates
        for row in read_candidates(files[-1], documents.ids, number, request.name):
            rows[documents.path, row["id"]] = row

    def worker(part: DocumentPart) -> Result:
        return [rows[part.path, name] for name, _ in part.read()], {}

    return SourcePlan(lambda device, advance: worker, inputs=tuple(files))


def _endpoint(request: Request) -> SourcePlan:
    from brido.candidates.endpoint import AnswerWorker, Asker

    settings, runtime = request.settings, request.runtime.endpoint_of(request.settings.endpoint)
    section, size = f"generation.{request.name}", settings.num_candidates
    asker = Asker(section, settings, size, request.reading, runtime)
    asker.ask(list(request.documents.values()), request.runtime.log_seconds)
    return SourcePlan(partial(AnswerWorker, asker))


SOURCES: dict[str, Callable[[Request], SourcePlan]] = {
    "diverse_beam": _local,
    "sampling": _local,
    "endpoint": _endpoint,
    "files": _files,
}


def generate(request: Request) -> Splits:
    """Make the candidates of every split; what an earlier call has finished is not made again.

    Raises:
        BridoError: the source refuses.
    """
    settings, runtime = request.settings, request.runtime
    plan = SOURCES[settings.method](request)
    grouped = settings.method == "diverse_beam" and settings.num_beam_groups > 1
    schema = GROUPED_CANDIDATES if grouped else CANDIDATES
    writing = None
    if isinstance(settings, DiverseBeamGeneration | SamplingGeneration):
        writing = writing_work(settings.search(), request.reading, settings.guidance)
    units = {
        split: documents.units(runtime, writing) for split, documents in request.documents.items()
    }
    decides = [settings, request.reading, schema.names]
    keys = shard_keys(decides, plan.inputs, request.documents, units)
    label = f"generate {request.name}"
    # A store of answers, or a file, may have more the next time, and is read in no time: nothing
    # is kept of it, and nothing that a killed call has read is taken over.
    kept, own = (keys, "") if writing else (None, uuid4().hex)
    work = Splits(f"generate/{request.name}", fingerprint([keys, own]), schema, units, kept)
    work.run(partial(_counting, plan.make_worker), plan.workers, label, runtime.log_seconds)
    return work


def _counting(make_worker: MakeWorker, device: str, advance: Advance) -> Worker:
    """A source's worker, which also counts what it makes."""
    worker = make_worker(device, advance)

    def work(part: DocumentPart) -> Result:
        rows, counts = worker(part)
        candidates = [row["candidates"] for row in rows]
        return rows, counts | {
            "documents": len(rows),
            "distinct": sum(len(set(texts)) for texts in candidates),
            "not_ended": sum(row["ended"].count(False) for row in rows),
            "empty_candidates": sum(texts.count("") for texts in candidates),
        }

    return work


def describe(request: Request, split: str, work: Splits) -> dict[str, Any]:
    """Describe the whole table of a split: the settings used, and what happened."""
    totals = work.totals(split)
    documents = max(totals["documents"], 1)
    description: dict[str, Any] = {
        "generation": request.settings.model_dump(mode="json"),
        "reading": request.reading.model_dump(mode="json"),
        "documents": totals["documents"],
        "truncated_sources": totals["truncated_sources"],
        "unread_thousandths": totals["unread_thousandths"],
        "distinct_candidates": totals["distinct"] / documents,
        "not_ended": totals["not_ended"],
        "empty_candidates": totals["empty_candidates"],
        "halved_batches": totals["halved_batches"],
    }
    # Of a server: how its answers ended, and which models it says gave them.
    for name, count in sorted(totals.items()):
        about, colon, what = name.partition(": ")
        if colon:
            description.setdefault(about, {})[what] = count
    return description


def notes(source: str, description: dict[str, Any]) -> Iterator[str]:
    """Yield what a user should know of a table that `describe` describes, a line each."""
    count, distinct = description["documents"], description["distinct_candidates"]
    size = description["generation"]["num_candidates"]
    yield f"{count:,} documents, {distinct:.1f} of {size} candidates distinct"
    limit = description["reading"]["max_source_tokens"]
    for name, words in (
        ("truncated_sources", f"sources cut to {limit} tokens"),
        ("empty_candidates", "candidates are empty"),
        ("not_ended", "candidates did not end"),
        ("halved_batches", "batches halved for memory"),
    ):
        if description[name]:
            yield f"{description[name]:,} {words}"
    cut, unread = description["truncated_sources"], description["unread_thousandths"]
    warnings = (
        cut_warning(cut, unread, count, limit),
        vote_warning(source, count, size * count, description["not_ended"], distinct * count),
    )
    yield from (f"warning: {warning}" for warning in warnings if warning)
    for about in ("finish_reasons", "served_models"):
        if about in description:
            counts = (f"{count:,} {name}" for name, count in description[about].items())
            yield f"{about.replace('_', ' ')}: {', '.join(counts)}"


def read_candidates(
    path: Path, ids: list[str], num_candidates: int, source: str
) -> list[dict[str, Any]]:
    """Read the rows of a candidates table for `ids`, in their order.

    The file is JSON lines or Parquet, which have lists. It has the columns id and
    candidates (a list of exactly `num_candidates` texts), and may have ended (as many truth values;
    true otherwise). Further ids and columns are passed over.
    `source` is the name in `generation`.

    Raises:
        BridoError: the file is unreadable, an id is missing or twice there, or a row has another
            number of candidates or values of ended (all problems named).
    """
    wrong, own, wanted = LeftOut(), Ids(), set(ids)
    found: dict[str, dict[str, Any]] = {}
    for row in read_rows(path):
        name, values = id_text(row.values.get("id")) or "", row.values
        fault = row.problem or own.fault(values.get("id"))
        if not fault and name in wanted and not (fault := texts_problem(values)):
            count, ended = len(values["candidates"]), values.get("ended")
            ended = [True] * num_candidates if ended in (None, []) else ended
            if count != num_candidates:
                key = f"generation.{source}.num_candidates"
                fault = f"`candidates` has {count} texts, not {num_candidates} ({key})"
            elif not isinstance(ended, list) or [type(one) for one in ended] != [bool] * count:
                fault = f"`ended` must be a list of {count} truth values"
            found[name] = {
                "id": name,
                "candidates": values["candidates"],
                "search_scores": [math.nan] * num_candidates,
                "ended": ended,
            }
        if fault:
            wrong.note(fault, f"{short(name)} ({row.place})" if name else row.place)
        found.setdefault(name, {})
    problems = [wrong.text()] if wrong else []
    if missing := [name for name in ids if name not in found]:
        problems.append(
            f"{len(missing)} documents have no candidates: {some(missing)}. The file has the ids "
            f"{some(list(found))}"
        )
    if problems:
        raise BridoError.from_problems(f"{path} cannot be used as candidates:", problems)
    return [found[name] for name in ids]
