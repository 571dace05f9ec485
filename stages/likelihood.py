"""Stage likelihood: base's log-probability of each candidate, with its document and with others.

A signal of some orders. Several GPUs work side by side (see `runtime.workers`).
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from brido.candidates.probability import ProbabilityWorker, units
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import LIKELIHOOD
from brido.tables.fingerprint import content_hash
from brido.utils.errors import BridoError, run_command
from brido.utils.stored import read_json
from brido.work.running import Splits
from brido.work.shards import code_key, fingerprint, table_keys
from brido.work.worker import model_workers
from stages import paths


def main() -> None:
    """Write data/likelihood: a table of every split that an order needs."""
    needs = read_json(paths.needs("likelihood"), "needs", splits=list, prior=bool)
    if needs["splits"]:
        measure(load_params(), needs["splits"], needs["prior"])
    else:
        paths.leave_out("likelihood")


def measure(params: Params, splits: Sequence[str], prior: bool) -> None:
    """Score the candidates of these splits, with other documents where an order asks.

    prior: whether an order takes away the candidates' likelihood with other documents.

    Raises:
        BridoError: `prior`, and a split has not enough different documents; or base has no
            weights; or a table is missing or damaged.
    """
    runtime, base = params.runtime, paths.checkpoint("base")
    if not base.is_dir():
        raise BridoError(
            f"{base} has no weights, and base says how likely candidates are: make them with "
            "`dvc repro checkpoint@base`"
        )
    reading, settings = params.reading_of("base"), params.likelihood
    size, others = runtime.documents_of_shard, settings.others if prior else 0
    work_units = {split: units(paths.tables(split), size, others) for split in splits}
    shared = fingerprint([reading, settings, size, code_key()], [base, Path(__file__)])
    keys = {
        split: table_keys(
            [shared, others],
            [paths.pool(split), paths.corpus(split)],
            len(work_units[split]),
        )
        for split in splits
    }
    work = Splits("likelihood", fingerprint(keys), LIKELIHOOD, work_units, keys)
    make = partial(ProbabilityWorker, base, reading, runtime, settings)
    work.run(make, model_workers(runtime), "likelihood", runtime.log_seconds)
    for split in splits:
        metadata: dict[str, Any] = {
            "reading": reading.model_dump(mode="json"),
            "candidates": content_hash(paths.pool(split)),
            "others": others,
            "seed": settings.seed,
        }
        work.write(split, paths.likelihood(split), metadata)
    work.clear()


if __name__ == "__main__":
    run_command(main)
