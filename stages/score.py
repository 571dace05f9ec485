"""Stage score: Eq. 2, from similarities to every candidate's score and their order.

It also says what this vote knows, on the validation documents, before anybody trains on it.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import SCORES, count_rows, read_metadata, write_table
from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.vote.consensus import ranking
from brido.vote.evidence import Tables, write_check
from brido.vote.select import Ballots, candidates_per_row, vote
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
        size = candidates_per_row(source)
        metadata = {
            "scoring": params.scoring.model_dump(mode="json"),
            "num_candidates": size,
            # Which candidates these scores are of: training checks it.
            "candidates": read_metadata(source, "pairwise").get("candidates"),
        }
        write_table(paths.scores(split), _scores(split, params), SCORES, metadata)


def check_vote() -> None:
    """Write metrics/votes.json: what the vote knows on the validation documents, and say it."""
    tables = Tables(
        paths.pool(CHECKED),
        paths.similarity(CHECKED),
        paths.scores(CHECKED),
        paths.support(CHECKED),
        paths.support("base"),
        paths.likelihood(CHECKED),
    )
    told = write_check(tables, paths.VOTES)
    for part in ("knows", "election"):
        say(f"score: {told[part]['sentence']}")


def _scores(split: str, params: Params) -> Iterator[pa.RecordBatch]:
    scoring = params.scoring
    ballots = Ballots(paths.pool(split), paths.similarity(split), paths.support(split))
    documents = count_rows(ballots.similarity, "pairwise")
    with Progress(f"score {split}", documents, interval=params.runtime.log_seconds) as progress:
        for voted in vote(ballots, scoring, scoring.alpha):
            scores = voted.scores
            order = ranking(scores).astype(np.int32)
            offsets = np.arange(0, scores.size + 1, scores.shape[1], dtype=np.int32)
            columns = [
                voted.ids,
                pa.ListArray.from_arrays(offsets, scores.reshape(-1)),
                pa.ListArray.from_arrays(offsets, order.reshape(-1)),
            ]
            yield pa.record_batch(columns, names=SCORES.names)
            progress.advance(len(scores))


if __name__ == "__main__":
    run_command(main)
