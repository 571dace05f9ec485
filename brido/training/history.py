"""metrics/training.csv: one row per validation, complete whenever it is looked at."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

from brido.utils.atomic import write_text

COLUMNS = (
    "update",
    "epoch",
    "loss",
    "cross_entropy",
    "contrastive",
    "learning_rate",
    "gradient_norm",
    "tau",
    "top1",
)


def write_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows as CSV, whole or not at all; a value that is no finite number stays empty.

    The columns are COLUMNS, then whatever else the rows have (a generator's measures), sorted.
    """
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *extra])
    for row in rows:
        writer.writerow([_cell(row.get(name, math.nan)) for name in (*COLUMNS, *extra)])
    write_text(path, text.getvalue())


def _cell(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.6g}" if math.isfinite(value) else ""
