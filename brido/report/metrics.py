"""From evaluation tables to numbers: means, intervals, paired differences, signatures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import TypeAdapter

from brido.report.display import ColumnKey
from brido.report.settings import ReportSettings
from brido.stats import bootstrap_interval, means
from brido.tables import DECODED, open_table, read_columns, read_metadata, read_rows
from brido.utils.errors import BridoError
from brido.utils.stored import DECIMALS
from brido.utils.text import word_count


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


def read_scores(path: Path) -> Scores:
    """One system's evaluation table; a column without any number is left out.

    Raises:
        BridoError: the table is missing or damaged.
    """
    with open_table(path, pa.schema([pa.field("id", pa.string())]), "evaluate") as file:
        schema = file.schema_arrow
    names = [name for name in schema.names if "." in name]
    table = read_columns(path, schema, "evaluate", ["id", *names])
    columns: list[ColumnKey] = []
    values: list[NDArray[np.float64]] = []
    for name in names:
        numbers = table.column(name).fill_null(math.nan).to_numpy()
        if not np.isnan(numbers).all():
            metric, _, column = name.partition(".")
            columns.append((metric, column))
            values.append(numbers)
    ids = table.column("id").to_pylist()
    signatures = read_metadata(path, "evaluate", signature=dict).get("signature", {})
    return Scores(ids, columns, np.array(values).reshape(-1, len(ids)).T, signatures)


def estimate(scores: Scores, settings: ReportSettings) -> Estimates:
    """Mean and interval of every submetric that has a number, by metric and submetric."""
    return _estimates(scores.columns, scores.values, settings)


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
    return _estimates(shared, np.stack(gaps, axis=1), settings)


def _estimates(
    columns: Sequence[ColumnKey], values: NDArray[np.float64], settings: ReportSettings
) -> Estimates:
    centre = means(values)
    how = (settings.bootstrap_samples, settings.confidence, settings.seed)
    low, high = bootstrap_interval(values, *how)
    result: Estimates = {}
    for index, (metric, submetric) in enumerate(columns):
        if not math.isfinite(centre[index]):
            continue
        # Rounded once, here: files, terminal, page and figures then show the same digits.
        mean, start, end = (round(float(one[index]), DECIMALS) for one in (centre, low, high))
        counted = int((~np.isnan(values[:, index])).sum())
        result.setdefault(metric, {})[submetric] = Estimate(mean, start, end, counted)
    return result


def mean_length(estimates: Estimates, decoded: Path, settings: ReportSettings) -> Estimate:
    """The mean length of a system's summaries in words.

    As `extractiveness` measured it, else counted in the decoded table.
    """
    measured = estimates.get("extractiveness", {}).get("length")
    if measured is not None:
        return measured
    counts = [float(word_count(row["summary"])) for row in read_rows(decoded, DECODED, "report")]
    column = ("length", "words")
    return _estimates([column], np.array(counts)[:, None], settings)["length"]["words"]
