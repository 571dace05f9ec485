"""The check of a run's vote: from the tables of a split to metrics/votes.json."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from brido.tables import read_metadata
from brido.tables.join import SplitTables, read_arrays
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing
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
    assert tables.likelihood is not None
    about = read_metadata(tables.support, "support")
    scoring = read_metadata(tables.scores, "score").get("scoring") or {}
    likelihood = read_metadata(tables.likelihood, "likelihood")
    ids, found = read_arrays(tables, [*COLUMNS, "prior"] if likelihood.get("others") else COLUMNS)
    if not ids:
        raise BridoError(
            "none of the validation documents has candidates, so there is no vote to check"
        )
    if not about.get("second"):
        del found["support"]
    how = Judged(
        about.get("judge", "unknown"),
        0.0 if about.get("exact") else TOLERANCE,
        bool(scoring.get("shuffle")),
        _warnings(counts, tables.pool.stem),
        prior=scoring.get("prior_weight") or PRIOR,
        length_penalty=scoring.get("length_penalty", 0.0),
        rules=about.get("rules", ""),
        other_writers=likelihood.get("other_writers", []),
        scoring=scoring,
    )
    base = {"base": about["base"]} if "base" in about else {}
    told = base | check_votes(found | {"ids": np.array(ids)}, how)
    write_text(path, json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return told


def _warnings(counts: Path, split: str) -> list[str]:
    """What stage pool warned of; nothing if it wrote no such thing."""
    if not counts.is_file():
        return []
    with parsing(lambda why: f"{counts} cannot be read ({why}): `dvc repro -f pool` makes it"):
        return json.loads(counts.read_text(encoding="utf-8")).get("warnings", {}).get(split, [])
