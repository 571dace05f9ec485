"""Stage elect: the system `elected`, what candidates and a vote give without any tuning.

Minimum Bayes risk: of every document the candidate that the run's vote puts first, without the
reference (alpha 0), so that alpha changes nothing here.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import CORPUS, DECODED, read_batches, write_table
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.vote.consensus import ranking
from brido.vote.select import score_documents
from stages import paths

SYSTEM = "elected"


def main() -> None:
    """Write data/decoded/elected/{validation,test}.parquet, test where it has candidates."""
    params = load_params()
    for split in params.documents.splits:
        if split != "train":
            elect(split, params)


def elect(split: str, params: Params) -> None:
    """Write data/decoded/elected/SPLIT.parquet; a document without candidates has an empty text."""
    rows = list(_rows(split, params))
    left_out = sum(not row["summary"] for row in rows)
    metadata = {"scoring": params.scoring.model_dump(mode="json", exclude={"alpha"})}
    write_table(paths.decoded(SYSTEM, split), [rows], DECODED, metadata | {"left_out": left_out})
    note = f", {left_out:,} without candidates" if left_out else ""
    say(f"elect {split}: {len(rows):,} documents{note}")


def _rows(split: str, params: Params) -> Iterator[dict[str, Any]]:
    elected: dict[str, tuple[str, float]] = {}
    tables = paths.tables(split)
    for documents, scores in score_documents(tables, params.scoring, 0.0, ["candidates"]):
        first = ranking(scores)[:, 0]
        best = scores[np.arange(len(first)), first].tolist()
        for one, place, score in zip(documents, first.tolist(), best, strict=True):
            elected[one.id] = one.candidates[place], score
    for batch in read_batches(paths.corpus(split), CORPUS, "download", ["id"]):
        for name in batch.column("id").to_pylist():
            summary, score = elected.get(name, ("", 0.0))
            yield {"id": name, "summary": summary, "score": score}


if __name__ == "__main__":
    run_command(main)
