"""Where the candidates of a document come from: a source for each `generation.SOURCE.method`.

A source is a function. It gets a `Request`, refuses what it cannot do with a BridoError, and
answers with a `Plan`: who makes the candidates. Register another one under its method's name:

>>> SOURCES["my_method"] = my_source
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from brido.candidates.documents import Documents, Part
from brido.candidates.files import read_candidates
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError
from brido.utils.paths import user_path
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, MakeWorker, Result
from brido.work.workers import Workers, model_workers


@dataclass(frozen=True)
class Request:
    """What a source is asked for.

    name: the source's key in `generation`.
    settings: section `generation.NAME`, in the form of the source's method, or any section with
        `method` and `num_candidates`.
    reading: how the checkpoint reads documents.
    checkpoint: the folder of the model, there or not.
    documents: those of each split.
    """

    name: str
    settings: Any
    reading: ReadingSettings
    runtime: RuntimeSettings
    checkpoint: Path
    documents: dict[str, Documents]


@dataclass(frozen=True)
class Plan:
    """Who makes the candidates.

    make_worker: makes workers (see `brido.work.running`) that answer a `Part` with rows of the
        candidates table (id, candidates, search_scores, ended; `brido.tables.CANDIDATES`),
        num_candidates candidates in each.
    workers: how many of them, and where.
    inputs: files and folders that the candidates depend on, besides the documents.
    """

    make_worker: MakeWorker
    workers: Workers = field(default_factory=Workers)
    inputs: tuple[Path, ...] = ()


Source = Callable[[Request], Plan]


def _local(request: Request) -> Plan:
    """The checkpoint on this machine's devices."""
    from brido.candidates.local import CandidateWorker

    folder, runtime = request.checkpoint, request.runtime
    if not folder.is_dir():
        raise BridoError(f"{folder} is missing: make it with `dvc repro checkpoint@{folder.name}`")
    make = partial(CandidateWorker, folder, request.reading, runtime, request.settings)
    return Plan(make, model_workers(runtime), inputs=(folder,))


def _files(request: Request) -> Plan:
    """A file of the user's for each split, all problems of a file named at once."""
    rows: dict[tuple[Path, str], dict[str, Any]] = {}
    files = []
    for split, documents in request.documents.items():
        left_out = set(documents.left_out)
        ids = [name for name in documents.ids if name not in left_out]
        files.append(user_path(getattr(request.settings.files, split)))
        for row in read_candidates(files[-1], ids, request.settings.num_candidates, request.name):
            rows[documents.path, row["id"]] = row
    return Plan(partial(_FromRows, rows), inputs=tuple(files))


class _FromRows:
    """Candidates that are there already."""

    def __init__(
        self, rows: dict[tuple[Path, str], dict[str, Any]], device: str, advance: Advance
    ) -> None:
        self._rows = rows

    def __call__(self, part: Part) -> Result:
        """The rows of the part's documents."""
        return [self._rows[part.path, name] for name, _ in part.read()], {}


def _endpoint(request: Request) -> Plan:
    """A server: everything that is missing is asked for before the first shard."""
    from brido.candidates.endpoint import AnswerWorker, Asker

    runtime = request.runtime.endpoint_of(request.settings.endpoint)
    asker = Asker(request.name, request.settings, request.reading, runtime)
    asker.ask(list(request.documents.values()), request.runtime.log_seconds)
    return Plan(partial(AnswerWorker, asker))


SOURCES: dict[str, Source] = {
    "diverse_beam": _local,
    "sampling": _local,
    "endpoint": _endpoint,
    "files": _files,
}
