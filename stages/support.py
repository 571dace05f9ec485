"""Stage support: how much of every candidate the source supports."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from brido.checkers.table import SupportWorker, judge_of, units
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import SUPPORT
from brido.tables.fingerprint import content_hash
from brido.utils.errors import run_command
from brido.utils.stored import read_json
from brido.work.running import Splits
from brido.work.shards import code_key, fingerprint, table_keys
from brido.work.worker import core_workers, model_workers
from stages import paths


def main() -> None:
    """Write data/support: a table of every split that an order needs."""
    splits = read_json(paths.needs("support"), "needs", splits=list)["splits"]
    if splits:
        check(load_params(), splits)
    else:
        paths.leave_out("support")


def check(params: Params, splits: Sequence[str]) -> None:
    """Check the candidates of these splits."""
    runtime, by_model = params.runtime, params.support.runs_model
    size = runtime.documents_of_shard
    work_units = {split: units(paths.tables(split), size) for split in splits}
    shared = fingerprint([params.support, size, code_key()], [Path(__file__)])
    keys = {
        split: table_keys(shared, [paths.pool(split), paths.corpus(split)], len(parts))
        for split, parts in work_units.items()
    }
    # A model's answers have a store of their own, and the model may be a folder that changes.
    kept = None if by_model else keys
    work = Splits("support", fingerprint(keys), SUPPORT, work_units, kept)
    make = partial(SupportWorker, params.support, runtime)
    workers = model_workers(runtime) if by_model else core_workers(runtime)
    work.run(make, workers, "support", runtime.log_seconds)
    for split in splits:
        metadata = {
            "support": params.support.model_dump(mode="json"),
            "candidates": content_hash(paths.pool(split)),
        }
        metadata |= judge_of(paths.corpus(split), params.support)
        work.write(split, paths.support(split), metadata)
    work.clear()


if __name__ == "__main__":
    run_command(main)
