"""How far a metric agrees with people: rank correlation with human labels.

    python -m brido.evaluation.geval.agreement scores.parquet labels.jsonl

SCORES is a table with the columns `id` (or `doc_id`), `system` and numbers, as `python -m
brido.evaluation.geval` writes it, or a folder of one table per system (`data/evaluation/geval`).
LABELS has the same columns with the marks that people gave. For every pair of a score and a label:

* per document: the correlation over the systems of one document, averaged over documents, with a
  bootstrap interval over documents; documents whose scores or labels are all equal say nothing and
  are left out (G-Eval's way);
* per system: the correlation over systems of their mean score and mean label.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from brido.stats import bootstrap_interval
from brido.utils.errors import BridoError, run_command, short, some
from brido.utils.extras import extra
from brido.utils.files import read_records

with extra("pipeline"):
    import pandas as pd
    from scipy.stats import kendalltau, spearmanr

CORRELATIONS = {"spearman": spearmanr, "kendall": kendalltau}
_RESAMPLES, _CONFIDENCE, _SEED = 1000, 0.95, 0


@dataclass(frozen=True)
class Agreement:
    """One score against one label by one correlation (Spearman's rho or Kendall's tau-b).

    `per_document` and `per_system` are None where no document, or fewer than three systems,
    allow a correlation. `documents` were used, `constant` left out.
    """

    score: str
    label: str
    correlation: str
    per_document: float | None
    interval: tuple[float, float] | None
    documents: int
    constant: int
    per_system: float | None
    systems: int
    pairs: int


def agreement(
    scores: pd.DataFrame,
    labels: pd.DataFrame,
    score_columns: Sequence[str],
    label_columns: Sequence[str],
) -> list[Agreement]:
    """Every score column against every label column, by Spearman and by Kendall.

    Both frames have the columns `id` and `system`; rows are joined by both, and rows without a
    number on either side count in no correlation.
    """
    joined = scores.merge(labels, on=["id", "system"], suffixes=("", "_label"))
    if joined.empty:
        raise BridoError(
            f"scores and labels have no (id, system) in common: scores have {_example(scores)}, "
            f"labels have {_example(labels)}"
        )
    results = []
    for score in score_columns:
        for label in label_columns:
            name = f"{label}_label" if label in scores.columns else label
            pairs = joined[["id", "system", score, name]].dropna()
            pairs.columns = pd.Index(["id", "system", "score", "label"])
            results += [_correlate(pairs, score, label, name) for name in CORRELATIONS]
    return results


def _correlate(pairs: pd.DataFrame, score: str, label: str, name: str) -> Agreement:
    values, constant = [], 0
    for _, group in pairs.groupby("id", sort=False):
        if len(group) < 2 or group["score"].nunique() < 2 or group["label"].nunique() < 2:
            constant += 1
            continue
        values.append(CORRELATIONS[name](group["score"], group["label"]).statistic)
    per_document = interval = None
    if values:
        column = np.array(values, dtype=np.float64)[:, None]
        low, high = bootstrap_interval(column, _RESAMPLES, _CONFIDENCE, _SEED)
        per_document, interval = float(column.mean()), (float(low[0]), float(high[0]))
    means = pairs.groupby("system")[["score", "label"]].mean()
    per_system = None
    if len(means) > 2 and means["score"].nunique() > 1 and means["label"].nunique() > 1:
        per_system = float(CORRELATIONS[name](means["score"], means["label"]).statistic)
    return Agreement(
        *(score, label, name, per_document, interval, len(values), constant),
        *(per_system, len(means), len(pairs)),
    )


def _example(frame: pd.DataFrame) -> str:
    first = frame.iloc[0] if len(frame) else {"id": "no", "system": "rows"}
    return f"({short(first['id'])}, {short(first['system'])})"


def read_frame(path: Path) -> pd.DataFrame:
    """A table (or a folder of one table per system) as a frame with `id`, `system` and numbers.

    Raises:
        BridoError: columns are missing, there is no number, or an (id, system) comes twice.
    """
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        records = [{**row, "system": file.stem} for file in files for row in read_records(file)]
    else:
        records = read_records(path)
    frame = pd.DataFrame(records)
    if "id" not in frame and "doc_id" in frame:
        frame = frame.rename(columns={"doc_id": "id"})
    missing = [name for name in ("id", "system") if name not in frame]
    if missing:
        raise BridoError(
            f"{path}: no column {' or '.join(missing)}; columns are {some(list(frame), 20)}"
        )
    frame["id"], frame["system"] = frame["id"].astype(str), frame["system"].astype(str)
    twice = frame[frame.duplicated(["id", "system"])]
    if len(twice):
        raise BridoError(
            f"{path}: {len(twice)} rows repeat an (id, system), first {_example(twice)}"
        )
    return frame[["id", "system", *numeric_columns(frame)]]


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """The columns that hold numbers (not yes or no)."""
    return list(frame.select_dtypes("number").columns)


def _chosen(frame: pd.DataFrame, wanted: str | None, path: Path) -> list[str]:
    present = numeric_columns(frame)
    if wanted is None:
        return present
    names = wanted.split(",")
    unknown = [name for name in names if name not in present]
    if unknown:
        raise BridoError(f"{path}: no numbers called {', '.join(unknown)}; there are {present}")
    return names


def table(results: Iterable[Agreement]) -> str:
    """The results as lines of text, a line per score, label and correlation."""
    lines = [
        f"{'score':<20} {'label':<22} {'':<9} {'per document':>13} {'95 % interval':>17} "
        f"{'documents':>10} {'per system':>11} {'systems':>8}"
    ]
    for result in results:
        low_high = "" if result.interval is None else "[{:.3f}, {:.3f}]".format(*result.interval)
        lines.append(
            f"{result.score:<20} {result.label:<22} {result.correlation:<9} "
            f"{_number(result.per_document):>13} {low_high:>17} "
            f"{f'{result.documents} (-{result.constant})':>10} "
            f"{_number(result.per_system):>11} {result.systems:>8}"
        )
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the agreement of the tables named on the command line, as text or as JSON lines."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scores", type=Path, help="Parquet or JSONL, or a folder of tables")
    parser.add_argument("labels", type=Path, help="JSONL or Parquet with human labels")
    parser.add_argument("--columns", help="scores to compare, comma-separated (default: all)")
    parser.add_argument("--labels", dest="wanted", help="labels to compare with (default: all)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args(arguments)
    scores, labels = read_frame(options.scores), read_frame(options.labels)
    score_columns = _chosen(scores, options.columns, options.scores)
    label_columns = _chosen(labels, options.wanted, options.labels)
    results = agreement(scores, labels, score_columns, label_columns)
    if options.json:
        print("\n".join(json.dumps(vars(result)) for result in results))
    else:
        print(table(results))


if __name__ == "__main__":
    run_command(main)
