"""Stage likelihood: base's log-probability of each candidate, the signal that a vote must beat.

Several GPUs work side by side (see `runtime.workers`).
"""

from functools import partial

from brido.candidates.probability import ProbabilityWorker
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import LIKELIHOOD, write_table
from brido.tables.fingerprint import content_hash
from brido.tables.join import SplitTables, parts_of
from brido.utils.errors import run_command
from brido.work.running import run
from brido.work.shards import Shards, fingerprint
from brido.work.workers import model_workers
from stages import paths


def main() -> None:
    """Write data/likelihood/validation.parquet, which the vote check compares the vote with."""
    _score("validation", load_params())


def _score(split: str, params: Params) -> None:
    runtime, base = params.runtime, paths.checkpoint("base")
    tables = SplitTables(pool=paths.pool(split), corpus=paths.corpus(split))
    reading, size = params.reading_of("base"), runtime.shard_documents
    key = fingerprint([reading, size], [tables.pool, paths.corpus(split), base])
    shards = Shards(f"likelihood/{split}", key, LIKELIHOOD)
    units = parts_of(tables, size)
    make = partial(ProbabilityWorker, base, reading, runtime, tables)
    run(shards, units, make, model_workers(runtime), f"likelihood {split}", runtime.log_seconds)
    metadata = {
        "reading": reading.model_dump(mode="json"),
        "candidates": content_hash(tables.pool),
    }
    rows = shards.read(range(len(units)))
    write_table(paths.likelihood(split), rows, LIKELIHOOD, metadata)
    shards.clear()


if __name__ == "__main__":
    run_command(main)
