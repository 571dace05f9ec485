"""From evaluation tables to numbers: means, intervals, paired differences, signatures."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import TypeAdapter

from brido.report.settings import ReportSettings
from brido.stats import bootstrap_interval, means
from brido.tables import open_table, read_columns, read_metadata
from brido.utils.errors import BridoError
from brido.utils.stored import DECIMALS

# A column of a table: the metric's name and the column's.
ColumnKey = tuple[str, str]


def column_of(name: str) -> ColumnKey:
    """METRIC.COLUMN as a pair."""
    metric, _, column = name.partition(".")
    return metric, column


@dataclass(frozen=True)
class Scores:
    """One system's numbers: a row per document, a column per (metric, submetric).

    `values` is float64 [documents, columns] with NaN where a number was not measured.
    """

    ids: list[str]
    columns: list[ColumnKey]
    values: NDArray[np.float64]
    signatures: dict[str, Any]

    def column(self, key: ColumnKey) -> NDArray[np.float64]:
        """The numbers of a column, one a document."""
        return self.values[:, self.columns.index(key)]


@dataclass(frozen=True)
class Estimate:
    """A mean over `documents` documents, with its bootstrap interval."""

    mean: float
    low: float
    high: float
    documents: int


# By metric and submetric.
Estimates = dict[str, dict[str, Estimate]]
# The estimates of each system or difference, to and from plain dicts, as metrics/intervals.json.
NAMED_ESTIMATES = TypeAdapter(dict[str, Estimates])


def item_of(estimates: Estimates, column: ColumnKey) -> Estimate | None:
    """The estimate of a column, None where it was not measured."""
    return estimates.get(column[0], {}).get(column[1])


def read_scores(path: Path) -> Scores:
    """One system's evaluation table; a column without any number is left out.

    Raises:
        BridoError: the table is missing or damaged.
    """
    with open_table(path, pa.schema([pa.field("id", pa.string())]), "evaluate") as file:
        schema = file.schema_arrow
    names = [name for name in schema.names if "." in name]
    table = read_columns(path, schema, "evaluate", ["id", *names])
    values = {name: table.column(name).fill_null(math.nan).to_numpy() for name in names}
    measured = [name for name in names if not np.isnan(values[name]).all()]
    ids = table.column("id").to_pylist()
    signatures = read_metadata(path, "evaluate", signature=dict).get("signature", {})
    numbers = np.array([values[name] for name in measured]).reshape(-1, len(ids)).T
    return Scores(ids, list(map(column_of, measured)), numbers, signatures)


def estimate(scores: Scores, settings: ReportSettings) -> Estimates:
    """Mean and interval of every submetric that has a number, by metric and submetric."""
    centre = means(scores.values)
    how = (settings.bootstrap_samples, settings.confidence, settings.seed)
    low, high = bootstrap_interval(scores.values, *how)
    counts = (~np.isnan(scores.values)).sum(axis=0)
    result: Estimates = {}
    for index, (metric, submetric) in enumerate(scores.columns):
        if math.isfinite(centre[index]):
            # Rounded once, here: files, terminal, page and figures then show the same digits.
            mean, start, end = (round(float(one[index]), DECIMALS) for one in (centre, low, high))
            found = Estimate(mean, start, end, int(counts[index]))
            result.setdefault(metric, {})[submetric] = found
    return result


def difference(tuned: Scores, base: Scores, settings: ReportSettings) -> Estimates:
    """Paired difference tuned minus base of every submetric that both have.

    A document counts where both systems have a number.

    Raises:
        BridoError: the two systems were evaluated on different documents.
    """
    if tuned.ids != base.ids:
        raise BridoError(
            "the systems were evaluated on different documents: `dvc repro report` makes the "
            "tables agree"
        )
    shared = [column for column in tuned.columns if column in base.columns]
    gaps = [tuned.column(key) - base.column(key) for key in shared]
    return estimate(Scores(tuned.ids, shared, np.stack(gaps, axis=1), {}), settings)


def estimate_all(
    scores: Mapping[str, Scores], pairs: Iterable[tuple[str, str]], settings: ReportSettings
) -> tuple[dict[str, Estimates], dict[str, Estimates]]:
    """The estimates of all systems by name, and the differences of pairs by `NAME - OTHER`.

    Raises:
        BridoError: two systems were evaluated on different documents.
    """
    systems = {name: estimate(own, settings) for name, own in scores.items()}
    gaps = {
        f"{one} - {other}": difference(scores[one], scores[other], settings) for one, other in pairs
    }
    return systems, gaps
