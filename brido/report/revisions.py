"""Two commits or experiments of a project, compared on the test documents that both have.

Their tables are read through DVC's own API: nothing is checked out, and nothing is run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from brido.report.display import ColumnKey, display
from brido.report.metrics import Scores, difference, estimate, read_scores
from brido.report.numbers import COMPARED
from brido.report.settings import ReportSettings
from brido.report.summary import aligned, every_column, item_of, result_table
from brido.report.verdict_table import column_name
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
    by: tuple[ColumnKey, ...]
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
        return _read(name, DVCFileSystem(rev=None if name == WORKSPACE else name))
    except RevError:
        raise BridoError(
            f"there is no commit, branch or experiment {name}: `git log` and `dvc exp list` show "
            "their names"
        ) from None
    except (NotDvcRepoError, SCMError):
        raise BridoError("this folder is in no project: `cd` to the one with dvc.yaml") from None


def _read(name: str, files: Any) -> Revision:
    """files: the revision's, a file system of DVC's."""
    from dvc_data.index import DataIndexDirError

    with TemporaryDirectory() as folder:

        def fetched(path: str) -> Path:
            copy = Path(folder) / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                files.get_file(path, str(copy))
            except (OSError, DataIndexDirError):  # of a file, of the list of a folder's files
                raise BridoError(_missing(name, path)) from None
            return copy

        choice = read_json(fetched(_CHOICE), "choose", by=str, chosen=str)
        systems = {"base": "base", "kept": choice["chosen"], "control": choice.get("control")}
        systems = {role: system for role, system in systems.items() if system}
        scores = {
            role: read_scores(fetched(f"data/evaluation/{system}/test.parquet"))
            for role, system in systems.items()
        }
        named = (choice["by"], choice.get("measures"))
        parts = [column.partition(".") for column in named if column]
        by = tuple((metric, column) for metric, _, column in parts)
        corpus = read_columns(fetched(_CORPUS), CORPUS, "download", ["id", "document"])
        texts = (corpus[key].to_pylist() for key in ("id", "document"))
        documents = dict(zip(*texts, strict=True))
        return Revision(name, by, systems, documents, scores)


def _missing(name: str, path: str) -> str:
    if path == _CHOICE:
        return f"{name} has no {path}: its run was not finished, or its metrics are not committed"
    way_out = "`dvc fetch` brings it, or `dvc repro` makes it"
    if name != WORKSPACE:
        way_out = (
            "`dvc fetch --all-commits` brings it (an experiment: `dvc exp pull`), or "
            f"`git checkout {name}` (an experiment: `dvc exp apply {name}`) and `dvc repro` make it"
        )
    return f"{path} of {name} is not in DVC's cache: {way_out}"


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
    rows, noted = [["", "", old.name, new.name, "difference", ""]], dict[str, None]()
    for label, role in _pairs(old, new).items():
        first, second = (_of(one.scores[role], shared) for one in (old, new))
        rows += _rows(label, first, second, new.by, settings)
        noted |= dict.fromkeys(_measured_otherwise(first, second))
    left_out = len(old.documents) + len(new.documents) - 2 * len(shared)
    note = (
        f"{len(shared):,} test documents; differences are paired, with "
        f"{100 * settings.confidence:g} % bootstrap intervals over documents."
    )
    note += f" {left_out:,} documents that only one of them has are left out." if left_out else ""
    return "\n".join([aligned(rows), "", note, *noted])


def _pairs(old: Revision, new: Revision) -> dict[str, str]:
    """Base, kept and control by what the table calls them; nobody stands there twice."""
    found: dict[tuple[str, str], str] = {}
    for role, name in new.systems.items():
        if role in old.systems:
            found.setdefault((old.systems[role], name), role)
    labels = {}
    for (before, now), role in found.items():
        names = before if before == now else f"{before} → {now}"
        labels[role if names == role else f"{role} ({names})"] = role
    return labels


def _of(scores: Scores, ids: Sequence[str]) -> Scores:
    """The numbers of some documents, in their order."""
    places = {name: place for place, name in enumerate(scores.ids)}
    return replace(scores, ids=list(ids), values=scores.values[[places[name] for name in ids]])


def _rows(
    label: str, old: Scores, new: Scores, by: Sequence[ColumnKey], settings: ReportSettings
) -> Iterator[list[str]]:
    ends, gaps = [estimate(one, settings) for one in (old, new)], difference(new, old, settings)
    columns = [key for key in dict.fromkeys([*by, *COMPARED]) if key in every_column({"": gaps})]
    ((_, cells),) = result_table(columns, {}, {label: gaps}).differences
    for place, (key, cell) in enumerate(zip(columns, cells, strict=True)):
        shown = display(*key)
        values = [shown.text(item.mean) for one in ends if (item := item_of(one, key))]
        name = f"{column_name(key)} {shown.unit}".rstrip()
        gap = f"{cell.value} [{cell.low}, {cell.high}]"
        yield ["" if place else label, name, *values, gap, cell.tone]


def _measured_otherwise(old: Scores, new: Scores) -> Iterator[str]:
    """A sentence for each metric that the two did not measure alike."""
    for metric in dict.fromkeys(metric for metric, _ in new.columns):
        own, before = ({**one.signatures.get(metric, {}), "n": 0} for one in (new, old))
        if own != before:
            yield f"{metric} was measured with other settings: its differences mean little."
