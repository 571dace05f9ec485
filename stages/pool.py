"""Stage pool: the candidates of all sources joined and cleaned; who votes, who can be elected."""

import json
from typing import Any

from brido.candidates.pool import Pool
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import POOL, write_table
from brido.utils.atomic import write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.work.shards import content_hash
from stages import paths


def main() -> None:
    """Write data/pool/{train,validation,test}.parquet and counts.json; test where it has any."""
    params = load_params()
    pools = {split: join(split, params) for split in params.documents.splits}
    counts: dict[str, Any] = {
        split: {"sources": pool.counts, "left_out": pool.left_out} for split, pool in pools.items()
    }
    counts["warnings"] = {split: pool.warnings() for split, pool in pools.items()}
    write_text(paths.POOL_COUNTS, json.dumps(counts, indent=2, sort_keys=True) + "\n")


def join(split: str, params: Params) -> Pool:
    """Write data/pool/SPLIT.parquet and return the pool, which has counted what happened."""
    tables = {name: paths.candidates(name, split) for name in params.generation}
    pool = Pool(tables, paths.corpus(split), params.pool)
    metadata = {
        "pool": params.pool.model_dump(mode="json"),
        "sources": {name: content_hash(path) for name, path in tables.items()},
    }
    count = write_table(paths.pool(split), pool.rows(), POOL, metadata)
    say(f"pool {split}: {count:,} documents with {params.num_candidates} candidates")
    for note in pool.notes():
        say(f"pool {split}: {note}")
    return pool


if __name__ == "__main__":
    run_command(main)
