"""Stage score: Eq. 2, from similarities to every candidate's score and their order.

It also writes, from the validation documents, whether tuning on these scores will help.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import SCORES, count_rows, read_metadata, write_table
from brido.tables.join import num_candidates
from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.vote.consensus import ranking
from brido.vote.evidence import write_check
from brido.vote.select import score_documents
from stages import paths

CHECKED = "validation"


def main() -> None:
    """Write data/scores/{train,validation}.parquet and metrics/votes.json."""
    write_scores(load_params())
    check_vote()


def write_scores(params: Params) -> None:
    """Write data/scores/{train,validation}.parquet."""
    for split in paths.TUNING_SPLITS:
        source = paths.similarity(split)
        metadata = {
            "scoring": params.scoring.model_dump(mode="json"),
            "num_candidates": num_candidates(source, "pairwise"),
            # Which candidates these are the scores of: training checks it.
            "candidates": read_metadata(source, "pairwise").get("candidates"),
        }
        write_table(paths.scores(split), _scores(split, params), SCORES, metadata)


def check_vote() -> None:
    """Write metrics/votes.json, the check of the vote, and print its verdict."""
    told = write_check(paths.tables(CHECKED), paths.pool_counts(), paths.VOTES)
    for line in told["verdict"]:
        say(f"score: {line}")


def _scores(split: str, params: Params) -> Iterator[pa.RecordBatch]:
    tables = paths.tables(split)
    count = count_rows(paths.similarity(split), "pairwise")
    with Progress(f"score {split}", count, interval=params.runtime.log_seconds) as progress:
        for documents, scores in score_documents(tables, params.scoring):
            order = ranking(scores).astype(np.int32)
            offsets = np.arange(0, scores.size + 1, scores.shape[1], dtype=np.int32)
            columns = [
                pa.array(documents.ids),
                pa.ListArray.from_arrays(offsets, scores.reshape(-1)),
                pa.ListArray.from_arrays(offsets, order.reshape(-1)),
            ]
            yield pa.record_batch(columns, names=SCORES.names)
            progress.advance(len(documents))


if __name__ == "__main__":
    run_command(main)
