"""What summaries of a few documents are worth while a model is being trained."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from brido.evaluation import Inputs, mentions, rouge
from brido.tables import CORPUS, read_rows
from brido.training.documents import RankedDocument


def sample_measures(
    sample: Sequence[RankedDocument], corpus: Path
) -> Callable[[list[str]], dict[str, float]]:
    """ROUGE and mentions of summaries of the sample; `rouge` is the mean of R-1, R-2, R-Lsum.

    corpus: the table that the sample is of. The metrics run with their default settings: no section
    but `training` changes how a run is watched.
    """
    ids = [document.id for document in sample]
    rows = {row["id"]: row for row in read_rows(corpus, CORPUS, "download")}
    known = [rows[name] for name in ids]
    inputs = Inputs(
        ids,
        [row["document"] for row in known],
        [],
        [row["references"] for row in known],
        [row["facts"] for row in known] if known and "facts" in known[0] else None,
    )

    def measure(summaries: list[str]) -> dict[str, float]:
        given = dataclasses.replace(inputs, summaries=summaries)
        found = rouge.METRIC.measure(given).means()
        found["rouge"] = fmean(found[name] for name in ("r1", "r2", "rlsum"))
        mentioned = mentions.METRIC.measure(given).means()
        return found | {f"mentions_{name}": value for name, value in mentioned.items()}

    return measure
