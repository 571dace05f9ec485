"""Stage generate: N candidates of every document, by diverse beam search, sampling or from files.

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.launch`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from brido.candidates.diversity import distinct_candidates, mean_pairwise_similarity
from brido.candidates.documents import Sources
from brido.candidates.files import read_candidates
from brido.config import load_params, user_path
from brido.errors import BridoError, run_command
from brido.launch import do_shards, relaunch, this_process
from brido.progress import say
from brido.settings import GenerationSettings, Params
from brido.tables import CANDIDATES, read_metadata, write_table
from brido.work.shards import Shards, fingerprint
from stages import paths

if TYPE_CHECKING:
    from brido.candidates.local import Generator, Sampling
    from brido.search import SearchSettings

SPLITS = ("train", "validation")
# What is summed over the shards into the table's metadata.
COUNTS = ("documents", "distinct", "similarity", "truncated", "empty_candidates", "halved_batches")


def main() -> None:
    """Write data/candidates/{train,validation}.parquet."""
    params = load_params()
    settings = params.generation
    relaunch("stages.generate")
    sources = {split: _sources(split, params) for split in SPLITS}
    if settings.method == "files":
        for split in SPLITS:
            _copy(split, params, sources[split])
        return
    base = paths.checkpoint("base")
    work = {}
    for split in SPLITS:
        read = [settings, params.reading_of("base")]
        key = fingerprint(read, [paths.corpus(split), base])
        # Shards of another size are other shards, though they make the same table.
        key = f"{key}-{params.runtime.shard_documents}"
        work[split] = Shards(f"generate/{split}", key, CANDIDATES)
    _search(params, sources, work)
    if this_process().is_main:
        for split in SPLITS:
            _assemble(split, params, sources[split], work[split])
        for shards in work.values():
            shards.clear()


def _sources(split: str, params: Params) -> Sources:
    settings = params.generation
    limit = getattr(settings, f"{split}_documents")
    size = params.runtime.shard_documents
    key = "generation.empty_documents"
    return Sources(paths.corpus(split), limit, size, settings.empty_documents, key)


def _search(params: Params, sources: dict[str, Sources], work: dict[str, Shards]) -> None:
    """Finish all shards of both splits; the model is loaded when the first one is needed."""
    method = search_method(params.generation)
    generator: Generator | None = None
    for split in SPLITS:

        def make(
            index: int, advance: Callable[[int], None], split: str = split
        ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
            nonlocal generator
            generator = generator or _load(params)
            rows = sources[split].shard(index)
            return _candidates(generator, rows, params.generation, method, advance)

        interval = params.runtime.log_seconds
        sizes = sources[split].shard_sizes
        do_shards(work[split], sizes, f"generate {split}", interval, make)


def _load(params: Params) -> "Generator":
    from brido.candidates.local import Generator

    base = paths.checkpoint("base")
    if not base.is_dir():
        raise BridoError(f"{base} is missing: make it with `dvc repro checkpoint@base`")
    return Generator(base, params.runtime, params.reading_of("base"))


def search_method(settings: GenerationSettings) -> "SearchSettings | Sampling":
    """What the generator is asked for: all beams of a search, or num_candidates samples."""
    from brido.candidates.local import Sampling

    if settings.method == "sampling":
        return Sampling(settings.search(), settings.seed)
    return settings.search()


def _candidates(
    generator: "Generator",
    rows: list[tuple[str, str]],
    settings: GenerationSettings,
    method: Any,
    advance: Callable[[int], None],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A shard's rows, every keep_every-th result of the search, and its counts."""
    result = generator.generate(
        [name for name, _ in rows], [text for _, text in rows], method, advance
    )
    step = settings.keep_every if settings.method == "diverse_beam" else 1
    table = [
        {"id": name, "candidates": texts[::step], "search_scores": scores[::step]}
        for (name, _), texts, scores in zip(rows, result.texts, result.scores, strict=True)
    ]
    return table, _counts(table) | {
        "truncated": result.truncated,
        "halved_batches": result.halved,
    }


def _counts(table: list[dict[str, Any]]) -> dict[str, Any]:
    candidates = [row["candidates"] for row in table]
    return {
        "documents": len(table),
        "distinct": sum(map(distinct_candidates, candidates)),
        "similarity": sum(map(mean_pairwise_similarity, candidates)),
        "empty_candidates": sum(texts.count("") for texts in candidates),
    }


def _assemble(split: str, params: Params, sources: Sources, shards: Shards) -> None:
    count = len(sources.shard_sizes)
    parts = [read_metadata(shards.path(index), "") for index in range(count)]
    totals = {name: sum(part[name] for part in parts) for name in COUNTS}
    metadata = _metadata(params, sources, totals)
    write_table(paths.candidates(split), shards.read(count), CANDIDATES, metadata)
    _report(split, metadata)


def _copy(split: str, params: Params, sources: Sources) -> None:
    """Take the split's candidates from the user's file."""
    settings = params.generation
    path = getattr(settings.files, split)
    left_out = set(sources.left_out)
    ids = [name for name in sources.ids if name not in left_out]
    rows = read_candidates(user_path(path), ids, settings.num_candidates)
    totals = dict.fromkeys(COUNTS, 0) | _counts(rows)
    metadata = _metadata(params, sources, totals)
    if this_process().is_main:
        write_table(paths.candidates(split), [rows], CANDIDATES, metadata)
        _report(split, metadata)


def _metadata(params: Params, sources: Sources, totals: dict[str, Any]) -> dict[str, Any]:
    """What is true of the whole table: the settings used, and what happened."""
    documents = max(totals["documents"], 1)
    return {
        "generation": params.generation.model_dump(mode="json")
        | {"max_source_tokens": params.reading_of("base").max_source_tokens},
        "documents": totals["documents"],
        "left_out_empty": sources.left_out,
        "truncated_sources": totals["truncated"],
        "distinct_candidates": totals["distinct"] / documents,
        "mean_pairwise_similarity": totals["similarity"] / documents,
        "empty_candidates": totals["empty_candidates"],
        "halved_batches": totals["halved_batches"],
    }


def _report(split: str, metadata: dict[str, Any]) -> None:
    wanted = metadata["generation"]["num_candidates"]
    say(
        f"generate {split}: {metadata['documents']:,} documents, "
        f"{metadata['distinct_candidates']:.1f} of {wanted} candidates distinct, mean pairwise "
        f"similarity {metadata['mean_pairwise_similarity']:.3f}"
    )
    left_out = metadata["left_out_empty"]
    notes = {
        f"{len(left_out)} empty documents left out ({', '.join(left_out[:5])})": len(left_out),
        f"{metadata['truncated_sources']:,} sources cut to "
        f"{metadata['generation']['max_source_tokens']} tokens": metadata["truncated_sources"],
        f"{metadata['empty_candidates']:,} candidates are empty": metadata["empty_candidates"],
        f"{metadata['halved_batches']} batches halved for memory": metadata["halved_batches"],
    }
    for note, count in notes.items():
        if count:
            say(f"generate {split}: {note}")


if __name__ == "__main__":
    run_command(main)
