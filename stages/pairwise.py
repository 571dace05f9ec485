"""Stage pairwise: R(x, y) of every pair of candidates and of every candidate with the reference."""

from functools import partial
from pathlib import Path

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import similarity_schema
from brido.tables.fingerprint import content_hash
from brido.tables.join import Part, SplitTables, num_candidates, parts_of, read_documents
from brido.text.words import unseen_share, unseen_warning
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.vote.similarity import Comparer
from brido.work.running import Splits
from brido.work.shards import code_key, fingerprint
from brido.work.worker import core_workers
from stages import paths

SHARD_DOCUMENTS = 256  # seconds even if the implementation is slow


def main() -> None:
    """Write data/similarity/{train,validation,test}.parquet; test if it has candidates."""
    params = load_params()
    for split in params.documents.splits:
        compare(split, params)


def compare(split: str, params: Params) -> None:
    """Write data/similarity/SPLIT.parquet."""
    tables = paths.tables(split)
    size = num_candidates(tables.pool)
    settings, unit = {"pairwise": params.pairwise}, params.scoring.unit
    # Shards of another size are other shards, though they make the same table. What other code has
    # compared before a kill is not taken over.
    inputs = [tables.pool, paths.corpus(split), Path(__file__)]
    key = fingerprint([settings, unit, SHARD_DOCUMENTS, code_key()], inputs)
    units = parts_of(tables, SHARD_DOCUMENTS)
    work = Splits(f"pairwise/{split}", key, similarity_schema(size), {split: units})
    if units and params.pairwise.tokenizer != "unicode":
        _warn_of_scripts(tables, split, units[0])
    make = partial(Comparer, tables, size, params.pairwise, unit)
    workers = core_workers(params.runtime)
    work.run(make, workers, f"pairwise {split}", params.runtime.log_seconds)
    metadata = {
        "pairwise": params.pairwise.model_dump(mode="json"),
        "unit": unit,
        "num_candidates": size,
        "documents": sum(map(len, units)),
        "candidates": content_hash(tables.pool),
    }
    work.write(split, paths.similarity(split), metadata)
    work.clear()


def _warn_of_scripts(tables: SplitTables, split: str, part: Part) -> None:
    """Say if ROUGE's words leave most of the first texts out."""
    documents = [one for batch in read_documents(tables, ["candidates"], part) for one in batch]
    texts = [text for one in documents for text in one.candidates]
    # Else ROUGE in tables is 0 of every system, and choice.rouge_loss leaves no system out.
    keys = "Set pairwise.tokenizer and evaluation.rouge.tokenizer to unicode"
    if warning := unseen_warning(unseen_share(texts), keys):
        say(f"pairwise {split}: {warning}")


if __name__ == "__main__":
    run_command(main)
