"""The check of a run's orders: from the tables of a split to metrics/votes.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from brido.tables import read_metadata
from brido.tables.join import SplitTables, read_arrays
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError
from brido.utils.stored import json_text, read_json
from brido.vote.select import score_documents
from brido.vote.settings import ScoringSettings
from brido.vote.votes import TOLERANCE, CheckSettings, check_votes

# What the check reads of the validation documents.
COLUMNS = ("voters", "similarity", "support", "unsupported", "words", "whole", "copied")
OF_OWN = ("own_unsupported", "own_whole")
OF_LIKELIHOOD = ("log_probability", "tokens")


def write_check(
    tables: SplitTables, orders: Mapping[str, ScoringSettings], counts: Path, path: Path
) -> dict[str, Any]:
    """Check orders on a split, write metrics/votes.json at `path`, and return its content.

    orders: the settings of each order by its name. Those that score alike have one row. The
    candidates that the first one elects stand against base's own output; a shuffled order elects
    only if there is no other. counts: data/pool/counts.json, whose warnings about the candidates
    are repeated. What `tables.own` and `tables.likelihood` say is left out where they are None.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    assert tables.support is not None
    about, likelihood = read_metadata(tables.support, "support"), {}
    columns = [*COLUMNS, *(OF_OWN if tables.own else ())]
    if tables.likelihood:
        likelihood = read_metadata(tables.likelihood, "likelihood")
        columns += [*OF_LIKELIHOOD, *(["prior"] if likelihood.get("others") else [])]
    ids, arrays = read_arrays(tables, columns)
    if not ids:
        raise BridoError(
            "no validation document has candidates, so there is no order to check: see "
            "documents.validation"
        )
    if not about["second"]:
        del arrays["support"]
    distinct, equal = _distinct(orders)
    settings = CheckSettings(
        about["judge"],
        0.0 if about["exact"] else TOLERANCE,
        read_json(counts, "pool")["warnings"][tables.pool.stem],
        rules=about["rules"],
        other_writers=likelihood.get("other_writers", []),
        equal=equal,
    )
    scores = {
        name: np.concatenate([batch.scores for batch in score_documents(tables, scoring)])
        for name, scoring in distinct.items()
    }
    base = {"base": about["base"]} if "base" in about else {}
    check = base | check_votes(arrays | {"ids": np.array(ids)}, scores, settings)
    write_text(path, json_text(check))
    return check


def _distinct(
    orders: Mapping[str, ScoringSettings],
) -> tuple[dict[str, ScoringSettings], dict[str, list[str]]]:
    """The orders that score differently, the shuffled ones last, and who scores like each."""
    distinct: dict[str, ScoringSettings] = {}
    equal: dict[str, list[str]] = {}
    for name, scoring in sorted(orders.items(), key=lambda item: item[1].shuffle):
        same = next((known for known, other in distinct.items() if other == scoring), None)
        if same is None:
            distinct[name] = scoring
        else:
            equal.setdefault(same, []).append(name)
    return distinct, equal
