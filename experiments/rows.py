"""The rows of a study: one for each system of each run and split, kept as CSV.

setting, seed: the run. system, split: whose summaries of which documents. words, r1, r2: mean
length and mean ROUGE F-measures in points (empty without references). details: names and numbers a
summary; supported: the share of them that the document has; sound: the share of summaries in which
who did what is right too (the world alone knows). names, numbers, dates: the share of summaries
with something unsupported of that kind; planted and other: on the world, with its planted day or
with anything else. tau, lead: of a trained system after its last update, by its own scores of
validation candidates: Kendall's tau of likelihood and score, and by how many nats a token the
candidate with the best score is likelier than the mean of the others. marks: a digit for each
document, in the corpus' order: 4 if the summary is good, plus 2 if it is whole, plus 1 if it says
something unsupported; 8 and 9 instead of 0 and 1 where wholeness was not measured.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brido.report.metrics import Scores, read_scores
from brido.tables import DECODED
from brido.tables import read_rows as read_table
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError

EVIDENCE = Path("metrics/evidence")
# The studies that results are told of, each a plan of experiments/plans with a table of rows.
PLANNED = ("default", "regimes", "pretrained", "texts")
# Their settings in the order of docs/results.md; those with rows have a place in every table.
SETTINGS = (
    "the default world",
    "the default world, other kernels",
    "a base from noisy articles",
    "a base that makes up little",
    "two optional facts a reference",
    "SmolLM2, 800 articles",
    "SmolLM2, 3,200 articles",
    "SmolLM2, MTS-Dialog",
    "SmolLM2, SciTLDR",
    "SmolLM2, Debian packages",
)
# The settings of the embedded world: five of a small model, two of SmolLM2.
WORLD = SETTINGS[:7]
# Where the means other than words stand: metric and column.
_MEASURED = {
    "r1": ("rouge", "r1"), "r2": ("rouge", "r2"), "details": ("mentions", "details"),
    "supported": ("mentions", "precision"), "sound": ("world_judge", "sound"),
    **{name: ("mentions", name) for name in ("names", "numbers", "dates", "planted", "other")},
}  # fmt: skip
MEANS = ["words", *_MEASURED, "tau", "lead"]
COLUMNS = ["setting", "seed", "system", "split", *MEANS, "marks"]
# What a share of documents can be asked of: its place in the digit.
BITS = {"unsupported": 1, "whole": 2, "good": 4}
UNKNOWN = 8
# Who knows whether a summary is whole and good: the world's judge, or else the rules.
_JUDGES = ("world_judge", "mentions")


def read_rows(path: Path) -> pd.DataFrame:
    """Read the rows of a file; none if there is no such file."""
    if not path.is_file():
        return make_rows([])
    # A system may be called "null", a setting "1".
    texts = dict.fromkeys(("setting", "system", "split", "marks"), str)
    kept = {"dtype": texts, "keep_default_na": False, "na_values": [""]}
    return make_rows(pd.read_csv(path, **kept))


@cache
def read_planned() -> pd.DataFrame:
    """Read the rows of all planned studies, once."""
    return pd.concat([read_rows(EVIDENCE / f"{name}.csv") for name in PLANNED], ignore_index=True)


def planned_settings() -> list[str]:
    """The settings of the planned studies that have rows."""
    there = set(read_planned().setting)
    return [name for name in SETTINGS if name in there]


def make_rows(records: Sequence[Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """Make a table of rows; what a record lacks was not measured."""
    rows = pd.DataFrame(records, columns=COLUMNS)
    return rows.astype({"seed": int, **dict.fromkeys(MEANS, float)})


def write_rows(path: Path, rows: pd.DataFrame) -> None:
    """Write rows as CSV; means have four decimals."""
    write_text(path, rows.round(dict.fromkeys(MEANS, 4)).to_csv(index=False))


def by_run(rows: pd.DataFrame, split: str = "test") -> dict[tuple[str, int], dict[str, Any]]:
    """The row of each system on a split, by run (setting and seed), in the order of the table."""
    runs: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows[rows.split == split].itertuples():
        runs.setdefault((row.setting, row.seed), {})[row.system] = row
    return runs


def marked(row: Any, mark: str) -> NDArray[np.float64]:
    """1 or 0 for each document of a row, NaN where it was not measured."""
    digits = np.array([int(digit) for digit in row.marks])
    values = (digits & BITS[mark] > 0).astype(float)
    unknown = (digits >= UNKNOWN) & (mark != "unsupported")
    return np.where(unknown, np.nan, values)


def collect(folder: Path, setting: str, seed: int) -> pd.DataFrame:
    """The rows of a finished run, from the tables that `dvc repro` left in its folder.

    Raises:
        BridoError: the folder has no evaluation, or a table of it is missing or damaged.
    """
    records, learned = [], _learned(folder / "metrics/curves.csv")
    for path in sorted(folder.glob("data/evaluation/*/*.parquet")):
        system, split = path.parent.name, path.stem
        place = {"setting": setting, "seed": seed, "system": system, "split": split}
        records.append(place | _measured(folder, system, split) | learned.get(system, {}))
    if not records:
        raise BridoError(f"{folder} has no data/evaluation: its run is not finished")
    return make_rows(records)


def _measured(folder: Path, system: str, split: str) -> dict[str, Any]:
    """Means and marks of a system's summaries of a split."""
    data = folder / "data"
    scores = read_scores(data / "evaluation" / system / f"{split}.parquet")
    texts = read_table(data / "decoded" / system / f"{split}.parquet", DECODED, "decode")
    words = [len(row["summary"].split()) for row in texts]
    means = {name: _mean(scores, *column) for name, column in _MEASURED.items()}
    return {"words": np.mean(words), **means, "marks": _marks(scores)}


def _learned(path: Path) -> dict[str, dict[str, float]]:
    """What the last update of each trained system has; a run that trains none has no curves."""
    curves = pd.read_csv(path).itertuples() if path.is_file() else ()
    return {
        row.system: {"tau": row.tau, "lead": row.log_p_elected - row.log_p_rest} for row in curves
    }


def _mean(scores: Scores, metric: str, name: str) -> float:
    """NaN where the metric was not measured, or of no document."""
    if (metric, name) not in scores.columns:
        return np.nan
    values = scores.column((metric, name))
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _marks(scores: Scores) -> str:
    digits = np.nan_to_num(scores.column(("mentions", "unsupported"))).astype(int)
    judge = next((name for name in _JUDGES if (name, "whole") in scores.columns), None)
    unknown = np.full(len(scores.ids), np.nan)
    whole, good = (scores.column((judge, name)) if judge else unknown for name in ("whole", "good"))
    known = ~np.isnan(whole)
    marks = digits + 2 * np.nan_to_num(whole) + 4 * np.nan_to_num(good)
    return "".join(f"{int(value)}" for value in np.where(known, marks, digits + UNKNOWN))
