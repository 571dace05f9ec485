"""Stage decode: one system's summary of every validation and test document, by beam search.

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.launch`).
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.candidates.documents import Sources
from brido.config import load_params
from brido.errors import BridoError, run_command
from brido.launch import do_shards, relaunch, this_process
from brido.progress import say
from brido.settings import DecodingSettings, Params
from brido.tables import DECODED, read_metadata, write_table
from brido.work.shards import Shards, fingerprint
from stages import paths

if TYPE_CHECKING:
    from brido.candidates.local import Generator

SPLITS = ("validation", "test")
# transformers' own defaults, for what neither params.yaml nor the checkpoint says.
DEFAULTS = {
    "num_beams": 1,
    "length_penalty": 1.0,
    "min_length": 0,
    "max_length": 20,
    "no_repeat_ngram_size": 0,
    "early_stopping": False,
}
COUNTS = ("truncated_sources", "empty_documents", "empty_summaries", "halved_batches")


def main() -> None:
    """Write data/decoded/SYSTEM/{validation,test}.parquet for the system on the command line."""
    params = load_params()
    systems = sys.argv[1:]
    if len(systems) != 1 or systems[0] not in params.decoded_systems:
        raise BridoError(
            "usage: python -m stages.decode SYSTEM, with one of `decoded_systems` in params.yaml "
            f"({', '.join(params.decoded_systems)}), not {' '.join(systems) or 'nothing'}"
        )
    relaunch("stages.decode")
    decode(params, systems[0])


def decode(params: Params, system: str) -> None:
    """Decode both splits with the system's checkpoint."""
    folder = paths.checkpoint(system)
    used = search_settings(folder, params.decoding)
    used["max_source_tokens"] = params.reading_of(system).max_source_tokens
    size = params.runtime.shard_documents
    sources, work = {}, {}
    for split in SPLITS:
        sources[split] = Sources(paths.corpus(split), None, size, "keep", "")
        key = fingerprint([used, params.reading_of(system)], [paths.corpus(split), folder])
        work[split] = Shards(f"decode/{system}/{split}", f"{key}-{size}", DECODED)
    _search(params, system, used, sources, work)
    if this_process().is_main:
        for split in SPLITS:
            _assemble(system, split, used, sources[split], work[split])
        for shards in work.values():
            shards.clear()


def search_settings(folder: Path, settings: DecodingSettings) -> dict[str, Any]:
    """The settings in use: params.yaml's where given, else the checkpoint's, else the defaults."""
    path = folder / "generation_config.json"
    if not path.is_file():
        name = "train" if folder.name == "tuned" else f"checkpoint@{folder.name}"
        raise BridoError(f"{path} is missing: make the checkpoint with `dvc repro {name}`")
    checkpoint = json.loads(path.read_text(encoding="utf-8"))
    if checkpoint.get("max_new_tokens") is not None:
        # As in transformers it goes before max_length, which counts the start token as well.
        checkpoint["max_length"] = checkpoint["max_new_tokens"] + 1
    used = {}
    for name, default in DEFAULTS.items():
        choices = (getattr(settings, name), checkpoint.get(name), default)
        used[name] = next(value for value in choices if value is not None)
        if name == "max_length" and choices[:2] == (None, None):
            say(
                f"decode {folder.name}: neither decoding.max_length nor the checkpoint says how "
                f"long a summary may be: {default} tokens"
            )
    return used


def _search(
    params: Params,
    system: str,
    used: dict[str, Any],
    sources: dict[str, Sources],
    work: dict[str, Shards],
) -> None:
    """Finish all shards of both splits; the model is loaded when the first one is needed."""
    generator: Generator | None = None
    for split in SPLITS:

        def make(
            index: int, advance: Callable[[int], None], split: str = split
        ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
            nonlocal generator
            if generator is None:
                from brido.candidates.local import Generator

                folder, reading = paths.checkpoint(system), params.reading_of(system)
                generator = Generator(folder, params.runtime, reading)
            return _summaries(generator, sources[split].shard(index), used, advance)

        interval = params.runtime.log_seconds
        sizes = sources[split].shard_sizes
        do_shards(work[split], sizes, f"decode {system} {split}", interval, make)


def _summaries(
    generator: "Generator",
    rows: list[tuple[str, str]],
    used: dict[str, Any],
    advance: Callable[[int], None],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A shard's rows and counts; an empty document has an empty summary."""
    from brido.search import SearchSettings

    search = {name: used[name] for name in DEFAULTS}
    settings = SearchSettings(**search, num_return_sequences=1)
    full = [(name, document) for name, document in rows if document.strip()]
    result = generator.generate(
        [name for name, _ in full], [document for _, document in full], settings, advance
    )
    found = {
        name: {"id": name, "summary": texts[0], "score": scores[0]}
        for (name, _), texts, scores in zip(full, result.texts, result.scores, strict=True)
    }
    table = [found.get(name, {"id": name, "summary": "", "score": 0.0}) for name, _ in rows]
    return table, {
        "truncated_sources": result.truncated,
        "empty_documents": len(rows) - len(full),
        "empty_summaries": sum(not row["summary"] for row in found.values()),
        "halved_batches": result.halved,
    }


def _assemble(
    system: str, split: str, used: dict[str, Any], sources: Sources, shards: Shards
) -> None:
    count = len(sources.shard_sizes)
    parts = [read_metadata(shards.path(index), "") for index in range(count)]
    totals = {name: sum(part[name] for part in parts) for name in COUNTS}
    metadata = {"decoding": used, "documents": len(sources.ids)} | totals
    write_table(paths.decoded(system, split), shards.read(count), DECODED, metadata)
    notes = [f"{totals[name]:,} {name.replace('_', ' ')}" for name in COUNTS if totals[name]]
    say(", ".join([f"decode {system} {split}: {len(sources.ids):,} documents", *notes]))


if __name__ == "__main__":
    run_command(main)
