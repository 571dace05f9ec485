"""Stage support: how much of every candidate, and of base's own output, the source supports."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from brido.checkers.table import SupportWorker, judge_of, units
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import SUPPORT
from brido.tables.fingerprint import base_of, content_hash
from brido.utils.errors import run_command
from brido.utils.stored import read_json
from brido.work.kept import code_key
from brido.work.running import Splits
from brido.work.shards import fingerprint, table_keys
from brido.work.worker import core_workers, model_workers
from stages import paths

# What base itself writes for the validation documents that have candidates.
OWN = "base"


def main() -> None:
    """Write data/support/base.parquet, and a table of every split that an order needs."""
    check(load_params(), read_json(paths.needs("support"), "needs")["splits"])


def check(params: Params, splits: Sequence[str]) -> None:
    """Check the candidates of these splits, and base's own output of the validation documents.

    Without a base (`none`) it has no output of its own.
    """
    own, judged = paths.decoded(OWN, "validation"), paths.corpus("validation")
    size = params.runtime.documents_of_shard
    work_units = {split: units(paths.tables(split), size) for split in splits}
    has_own = not paths.is_left_empty(own.parent)
    if has_own:
        work_units[OWN] = units(paths.tables("validation", [OWN]), size, OWN)
    runtime, by_model = params.runtime, params.support.runs_model
    shared = fingerprint([params.support, size, code_key()], [Path(__file__)])
    keys = {}
    for name, parts in work_units.items():
        split = "validation" if name == OWN else name
        inputs = [paths.pool(split), paths.corpus(split)] + ([own] if name == OWN else [])
        keys[name] = table_keys(shared, inputs, len(parts))
    # A model's answers have a store of their own, and the model may be a folder that changes.
    kept = None if by_model else keys
    work = Splits("support", fingerprint(keys), SUPPORT, work_units, kept)
    make = partial(SupportWorker, params.support, runtime)
    workers = model_workers(runtime) if by_model else core_workers(runtime, threads=False)
    work.run(make, workers, "support", runtime.log_seconds)
    described = {"support": params.support.model_dump(mode="json")}
    judge = judge_of(judged, params.support)
    for name in work_units:
        source = paths.pool("validation" if name == OWN else name)
        metadata = described | judge | {"candidates": content_hash(source)}
        metadata |= {"base": base_of(own)} if has_own else {}
        work.write(name, paths.support(name), metadata)
    work.clear()


if __name__ == "__main__":
    run_command(main)
