"""Stage likelihood: base's log-probability of each candidate, the signal that a vote must beat.

Several GPUs work side by side (see `runtime.workers`).
"""

from functools import partial

from brido.candidates.probability import ProbabilityWorker
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import LIKELIHOOD
from brido.tables.fingerprint import content_hash
from brido.tables.join import SplitTables, parts_of
from brido.utils.errors import run_command
from brido.work.running import Splits
from brido.work.shards import fingerprint
from brido.work.worker import model_workers
from stages import paths


def main() -> None:
    """Write data/likelihood/validation.parquet, which the vote check compares the vote with."""
    _score("validation", load_params())


def _score(split: str, params: Params) -> None:
    runtime, base = params.runtime, paths.checkpoint("base")
    tables = SplitTables(pool=paths.pool(split), corpus=paths.corpus(split))
    reading, size = params.reading_of("base"), runtime.shard_documents
    key = fingerprint([reading, size], [tables.pool, paths.corpus(split), base])
    work = Splits(f"likelihood/{split}", key, LIKELIHOOD, {split: parts_of(tables, size)})
    make = partial(ProbabilityWorker, base, reading, runtime, tables)
    work.run(make, model_workers(runtime), f"likelihood {split}", runtime.log_seconds)
    metadata = {
        "reading": reading.model_dump(mode="json"),
        "candidates": content_hash(tables.pool),
    }
    work.write(split, paths.likelihood(split), metadata)
    work.clear()


if __name__ == "__main__":
    run_command(main)
