"""Two commits or experiments of a project, compared on the test documents that both have.

Their tables are read through DVC's own API: nothing is checked out, and nothing is run.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from brido.report.display import column_name, direction, display, gap_text
from brido.report.metrics import (
    ColumnKey,
    Scores,
    column_of,
    difference,
    estimate,
    item_of,
    read_scores,
)
from brido.report.numbers import COMPARED
from brido.report.settings import ReportSettings
from brido.report.summary import aligned
from brido.tables import CORPUS, read_columns
from brido.utils.errors import BridoError
from brido.utils.stored import read_json

# The files as they are now, whether they are committed or not.
WORKSPACE = "workspace"
_CHOICE = "metrics/choice.json"
_CORPUS = "data/corpus/test.parquet"


@dataclass(frozen=True)
class Revision:
    """A finished run.

    by: the column that decided, and the one that measures beside it. systems: who is base, kept and
    control, by these words. documents: the test documents by id. scores: of base, kept and control.
    """

    name: str
    by: list[ColumnKey]
    systems: dict[str, str]
    documents: dict[str, str]
    scores: dict[str, Scores]


def read_revision(name: str) -> Revision:
    """What the run of a commit, a branch, an experiment or the workspace has measured.

    Raises:
        BridoError: there is no such revision, its run is not finished, or its tables are not in
            DVC's cache.
    """
    from dvc.api import DVCFileSystem
    from dvc.exceptions import NotDvcRepoError
    from dvc.scm import RevError, SCMError

    try:
        files = DVCFileSystem(rev=None if name == WORKSPACE else name)
        with TemporaryDirectory() as folder:
            return _read(name, partial(_fetch, name, files, Path(folder)))
    except RevError:
        raise BridoError(
            f"there is no commit, branch or experiment {name}: `git log` and `dvc exp list` show "
            "their names"
        ) from None
    except (NotDvcRepoError, SCMError):
        raise BridoError("this folder is in no project: `cd` to the one with dvc.yaml") from None


def _read(name: str, fetch: Callable[[str], Path]) -> Revision:
    choice = read_json(fetch(_CHOICE), "choose", by=str, chosen=str)
    systems = {"base": "base", "kept": choice["chosen"], "control": choice.get("control")}
    systems = {role: system for role, system in systems.items() if system}
    scores = {
        role: read_scores(fetch(f"data/evaluation/{system}/test.parquet"))
        for role, system in systems.items()
    }
    by = [column_of(column) for column in (choice["by"], choice.get("measures")) if column]
    corpus = read_columns(fetch(_CORPUS), CORPUS, "download", ["id", "document"])
    texts = (corpus[key].to_pylist() for key in ("id", "document"))
    return Revision(name, by, systems, dict(zip(*texts, strict=True)), scores)


def _fetch(name: str, files: Any, folder: Path, path: str) -> Path:
    """Copy a file of the revision's, whose file system of DVC's is `files`, into a folder."""
    from dvc_data.index import DataIndexDirError

    copy = folder / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    try:
        files.get_file(path, str(copy))
    except (OSError, DataIndexDirError):  # of a file, of the list of a folder's files
        raise BridoError(
            f"{path} of {name} is neither committed nor in DVC's cache: `dvc fetch --all-commits` "
            "brings it (an experiment: `dvc exp pull`), or `dvc repro` makes it, after `git "
            "checkout` or `dvc exp apply` of what is to be compared"
        ) from None
    return copy


def compare(old: Revision, new: Revision, settings: ReportSettings) -> str:
    """A table with a row a number: what it was, what it is, and the paired difference.

    Behind a difference stands its bootstrap interval over documents, and whether it is better or
    worse: an interval that holds 0 says neither.

    Raises:
        BridoError: they share no test document.
    """
    shared = [name for name, text in new.documents.items() if old.documents.get(name) == text]
    if not shared:
        raise BridoError(f"{old.name} and {new.name} have no test document in common")
    rows, measured_otherwise = [["", "", old.name, new.name, "difference", ""]], dict[str, None]()
    pairs: dict[tuple[str, str], str] = {}
    for role, name in new.systems.items():
        if role in old.systems:  # nobody stands there twice
            pairs.setdefault((old.systems[role], name), role)
    for names, role in pairs.items():
        first, second = (_of(one.scores[role], shared) for one in (old, new))
        label = " → ".join(dict.fromkeys(names))
        label = role if label == role else f"{role} ({label})"
        rows += _rows(label, first, second, new.by, settings)
        for metric in dict.fromkeys(metric for metric, _ in second.columns):
            own, before = ({**one.signatures.get(metric, {}), "n": 0} for one in (second, first))
            if own != before:
                measured_otherwise[metric] = None
    left_out = len(old.documents) + len(new.documents) - 2 * len(shared)
    note = (
        f"{len(shared):,} test documents; differences are paired, with "
        f"{100 * settings.confidence:g} % bootstrap intervals over documents."
    )
    note += f" {left_out:,} documents that only one of them has are left out." if left_out else ""
    notes = [
        f"{metric} was measured with other settings: its differences mean little."
        for metric in measured_otherwise
    ]
    return "\n".join([aligned(rows), "", note, *notes])


def _of(scores: Scores, ids: Sequence[str]) -> Scores:
    """The numbers of some documents, in their order."""
    places = {name: place for place, name in enumerate(scores.ids)}
    return replace(scores, ids=list(ids), values=scores.values[[places[name] for name in ids]])


def _rows(
    label: str, old: Scores, new: Scores, by: Sequence[ColumnKey], settings: ReportSettings
) -> Iterator[list[str]]:
    means, gaps = [estimate(one, settings) for one in (old, new)], difference(new, old, settings)
    for key in dict.fromkeys([*by, *COMPARED]):
        if gap := item_of(gaps, key):
            shown, side = display(key), direction(gap, key)
            values = [shown.text(item.mean) for one in means if (item := item_of(one, key))]
            tone = {1: "better", -1: "worse"}.get(side * (shown.better != "neither"), "")
            name = f"{column_name(key)} {shown.unit}".rstrip()
            yield [label, name, *values, gap_text(key, gap), tone]
            label = ""
