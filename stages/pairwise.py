"""Stage pairwise: R(x, y) of every pair of candidates and of every candidate with the reference."""

from functools import partial

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import similarity_schema, write_table
from brido.utils.errors import run_command
from brido.vote.similarity import Comparer, candidates_a_document, needs_sentences, pair_up
from brido.work.running import run
from brido.work.shards import Shards, content_hash, fingerprint
from brido.work.workers import core_workers
from stages import paths

SHARD_DOCUMENTS = 256  # seconds even where the implementation is slow


def main() -> None:
    """Write data/similarity/{train,validation,test}.parquet; test where it has candidates."""
    params = load_params()
    for split in params.documents.splits:
        compare(split, params)


def compare(split: str, params: Params) -> None:
    """Write data/similarity/SPLIT.parquet."""
    candidates, corpus = paths.pool(split), paths.corpus(split)
    size = candidates_a_document(candidates)
    settings = {"pairwise": params.pairwise, "text": params.text}
    unit = params.scoring.unit
    # Shards of another size are other shards, though they make the same table.
    key = fingerprint([settings, unit, SHARD_DOCUMENTS], [candidates, corpus])
    shards = Shards(f"pairwise/{split}", key, similarity_schema(size))
    units = pair_up(candidates, corpus, SHARD_DOCUMENTS)
    splitter = params.text.sentence_splitter
    make = partial(Comparer, candidates, corpus, size, params.pairwise, splitter, unit)
    # Threads where the compiled code does the work; processes where splitting sentences does.
    threads = unit == "summary" and not needs_sentences(params.pairwise)
    workers = core_workers(params.runtime, threads)
    run(shards, units, make, workers, f"pairwise {split}", params.runtime.log_seconds)
    metadata = {name: section.model_dump(mode="json") for name, section in settings.items()} | {
        "unit": unit,
        "num_candidates": size,
        "documents": sum(map(len, units)),
        "candidates": content_hash(candidates),
    }
    write_table(paths.similarity(split), shards.read(range(len(units))), shards.schema, metadata)
    shards.clear()


if __name__ == "__main__":
    run_command(main)
