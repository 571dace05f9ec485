"""The table of a study: one row for each system of each chain, kept as CSV beside its settings.

setting, seed: the chain. system, decoding, split: which summaries. decoding is a name of the plan's
decodings or "beams at base's length"; it is empty for references and elected candidates.
length_penalty: NaN where nothing was decoded. words, r1, r2: mean length and mean ROUGE F-measures
in points. The other columns have a digit for each document:

* unsupported: the number of mentions that the document does not support (9: nine or more). Empty
  if no length penalty reaches the length.
* fluency: 3 for a sentence of the world's grammar. sound: 1 for such a sentence whose statements
  are all right. Both are empty on other corpora, and `sound` in the rows of older studies.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brido.utils.atomic import write_text

METRICS = Path("metrics")
CHAIN = ["setting", "seed"]
PLACE = [*CHAIN, "system", "decoding", "split"]
MEANS = ["words", "r1", "r2"]
DIGITS = ["unsupported", "fluency", "sound"]
COLUMNS = [*PLACE, "length_penalty", *MEANS, *DIGITS]
TYPES = {"seed": int, "length_penalty": float, **dict.fromkeys(MEANS, float)}


def read_rows(path: Path) -> pd.DataFrame:
    """Read the rows of a file; none if there is no such file."""
    if not path.is_file():
        return make_rows([])
    return make_rows(pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records"))


@cache
def committed(study: str, *settings: str) -> pd.DataFrame:
    """The committed rows of a study, such as evidence/gemma; of these settings, if any is named."""
    rows = read_rows(METRICS / f"{study}.csv")
    return rows[rows.setting.isin(settings)] if settings else rows


def make_rows(records: Sequence[Mapping[Any, Any]]) -> pd.DataFrame:
    """Make a table of rows; a column that a record lacks is empty."""
    frame = pd.DataFrame([dict.fromkeys(COLUMNS, "") | dict(one) for one in records], None, COLUMNS)
    frame["length_penalty"] = pd.to_numeric(frame["length_penalty"], errors="coerce")
    return frame.astype({name: TYPES.get(name, object) for name in COLUMNS})


def write_rows(path: Path, rows: pd.DataFrame) -> None:
    """Write rows as CSV; means have four decimals."""
    write_text(path, rows.round(dict.fromkeys(MEANS, 4)).to_csv(index=False))


def chosen(
    rows: pd.DataFrame, system: str, decoding: str = "", split: str = "test"
) -> pd.DataFrame:
    """The rows of a system, seed by seed."""
    wanted = (rows.system == system) & (rows.decoding == decoding) & (rows.split == split)
    return rows[wanted].sort_values("seed")


def by_chain(rows: pd.DataFrame) -> list[tuple[tuple[str, int], pd.DataFrame]]:
    """The rows of each chain, in the order of the table."""
    return list(rows.groupby(CHAIN, sort=False))


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that have documents: a length that is out of reach has none."""
    return rows[rows.unsupported != ""]


def _digits(text: str) -> NDArray[np.float64]:
    return np.array([float(digit) for digit in text])


def _unsupported(row: Any) -> NDArray[np.float64]:
    return (_digits(row.unsupported) > 0).astype(float)


def _well_formed(row: Any) -> NDArray[np.float64]:
    return (_digits(row.fluency) == 3).astype(float)


# What a share of documents can be asked of: name -> 1 or 0 for each document of a row.
MARKS = {
    "unsupported": _unsupported,
    "well-formed": _well_formed,
    "good": lambda row: _well_formed(row) * (1 - _unsupported(row)),
    "sound": lambda row: _digits(row.sound),
}
NEEDS = {"well-formed": "fluency", "good": "fluency", "sound": "sound"}


def has(rows: pd.DataFrame, mark: str) -> bool:
    """Whether all of these rows, at least one, have this mark."""
    return len(rows) > 0 and bool((rows[NEEDS.get(mark, "unsupported")] != "").all())


def marks(rows: pd.DataFrame, mark: str) -> list[NDArray[np.float64]]:
    """1 or 0 for each document, row by row."""
    return [MARKS[mark](row) for row in rows.itertuples()]


def write_settings(path: Path, settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Write which values of params.yaml each setting was measured under.

    settings: setting -> dotted key -> value. Keys that all settings share are written once.
    """
    first = next(iter(settings.values()), {})
    shared = {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in settings.values())
    }
    own = {
        name: {key: value for key, value in values.items() if key not in shared}
        for name, values in settings.items()
    }
    write_text(path, json.dumps({"all": shared, "settings": own}, indent=1) + "\n")


def read_settings(path: Path) -> dict[str, dict[str, Any]]:
    """Read what `write_settings` wrote; empty if there is no such file."""
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {name: kept["all"] | own for name, own in kept["settings"].items()}
