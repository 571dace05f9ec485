"""Stage score: Eq. 2, from similarities to every candidate's score, in the order of one system.

python -m stages.score SYSTEM
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import SCORES, count_rows, read_metadata, write_table
from brido.tables.join import num_candidates
from brido.utils.errors import run_command
from brido.utils.progress import Progress
from brido.vote.consensus import ranking
from brido.vote.select import score_documents
from brido.vote.settings import ScoringSettings
from stages import paths
from stages.arguments import name_given


def main() -> None:
    """Write data/scores/SYSTEM/{train,validation}.parquet for the system on the command line."""
    params = load_params()
    write_scores(params, name_given("score", "SYSTEM", params.tuned, "a key of `tuned`"))


def write_scores(params: Params, system: str) -> None:
    """Write data/scores/SYSTEM/{train,validation}.parquet."""
    scoring = params.scoring_of(system)
    for split in paths.TUNING_SPLITS:
        source = paths.similarity(split)
        metadata = {
            "scoring": scoring.model_dump(mode="json"),
            "num_candidates": num_candidates(source, "pairwise"),
            # Which candidates these are the scores of: training checks it.
            "candidates": read_metadata(source, "pairwise").get("candidates"),
        }
        count, seconds = count_rows(source, "pairwise"), params.runtime.log_seconds
        progress = Progress(f"score {system} {split}", count, interval=seconds)
        batches = _scores(split, scoring, progress)
        write_table(paths.scores(system, split), batches, SCORES, metadata)


def _scores(split: str, scoring: ScoringSettings, progress: Progress) -> Iterator[pa.RecordBatch]:
    with progress:
        for documents, scores in score_documents(paths.tables(split), scoring):
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
