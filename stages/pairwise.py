"""Stage pairwise: R(x, y) of every pair of candidates and of every candidate with the reference."""

import os
from functools import partial

from brido.config import load_params
from brido.errors import run_command
from brido.settings import Params
from brido.similarity import Comparer, candidates_a_document, needs_sentences, pair_up
from brido.tables import similarity_schema, write_table
from brido.work.running import Workers, run
from brido.work.shards import Shards, content_hash, fingerprint
from stages import paths

SPLITS = ("train", "validation")
SHARD_DOCUMENTS = 1024


def main() -> None:
    """Write data/similarity/{train,validation}.parquet."""
    params = load_params()
    for split in SPLITS:
        _compare(split, params)


def _compare(split: str, params: Params) -> None:
    candidates, corpus = paths.candidates(split), paths.corpus(split)
    size = candidates_a_document(candidates)
    settings = {"pairwise": params.pairwise, "text": params.text}
    key = fingerprint(settings, [candidates, corpus])
    shards = Shards(f"pairwise/{split}", key, similarity_schema(size))
    units = pair_up(candidates, corpus, SHARD_DOCUMENTS)
    splitter = params.text.sentence_splitter
    make = partial(Comparer, candidates, corpus, size, params.pairwise, splitter)
    # Threads where the compiled code does the work; processes where splitting sentences does.
    cores = params.runtime.threads or os.cpu_count() or 1
    workers = Workers(["cpu"] * cores, threads=not needs_sentences(params.pairwise))
    run(shards, units, make, workers, f"pairwise {split}", params.runtime.log_seconds)
    metadata = {name: section.model_dump(mode="json") for name, section in settings.items()} | {
        "num_candidates": size,
        "documents": sum(map(len, units)),
        "candidates": content_hash(candidates),
    }
    write_table(paths.similarity(split), shards.read(range(len(units))), shards.schema, metadata)
    shards.clear()


if __name__ == "__main__":
    run_command(main)
