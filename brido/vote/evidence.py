"""The check of a run's vote: from the tables of a split to metrics/votes.json."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.tables import read_metadata
from brido.tables.join import SplitTables, read_arrays
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing
from brido.vote.select import is_shuffled
from brido.vote.verdict import PRIOR, TOLERANCE, Judged, check_votes

# What the check reads of the validation documents.
COLUMNS = (
    *("scores", "voters", "similarity", "support", "unsupported", "words"),
    *("own_unsupported", "own_words", "log_probability", "tokens"),
    *("whole", "own_whole", "copied"),
)


def write_check(tables: SplitTables, counts: Path, path: Path) -> dict[str, Any]:
    """Check the votes of these tables, write metrics/votes.json at `path`, and return its content.

    counts: data/pool/counts.json, whose warnings about the candidates are repeated.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    assert tables.support is not None
    assert tables.scores is not None
    about = read_metadata(tables.support, "support")
    scoring = read_metadata(tables.scores, "score").get("scoring") or {}
    assert tables.likelihood is not None
    likelihood = read_metadata(tables.likelihood, "likelihood")
    how = Judged(
        about.get("judge", "unknown"),
        0.0 if about.get("exact") else TOLERANCE,
        is_shuffled(tables.scores),
        _warnings(counts, tables.pool.stem),
        prior=scoring.get("prior", PRIOR),
        rules=about.get("rules", ""),
        other_writers=likelihood.get("other_writers", []),
    )
    base = {"base": about["base"]} if "base" in about else {}
    told = base | check_votes(read_evidence(tables), how)
    write_text(path, json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return told


def _warnings(counts: Path, split: str) -> list[str]:
    """What stage pool warned of; nothing if it wrote no such thing."""
    if not counts.is_file():
        return []
    with parsing(lambda why: f"{counts} cannot be read ({why}): `dvc repro -f pool` makes it"):
        return json.loads(counts.read_text(encoding="utf-8")).get("warnings", {}).get(split, [])


def read_evidence(tables: SplitTables) -> dict[str, NDArray[Any]]:
    """What is known of the candidates of a split, for `check_votes`.

    Raises:
        BridoError: see `write_check`.
    """
    assert tables.likelihood is not None
    asked = read_metadata(tables.likelihood, "likelihood").get("others")
    ids, arrays = read_arrays(tables, [*COLUMNS, "prior"] if asked else COLUMNS)
    if not ids:
        raise BridoError("no validation document has candidates: there is no vote to check")
    assert tables.support is not None
    if not read_metadata(tables.support, "support").get("second"):
        del arrays["support"]
    return arrays | {"ids": np.array(ids)}
