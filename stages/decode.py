"""Stage decode: one system's summary of every validation and test document, by beam search.

Several GPUs work side by side (see `runtime.workers`).
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

from brido.candidates.documents import Documents
from brido.config import load_params
from brido.device import worker_devices
from brido.errors import BridoError, run_command
from brido.progress import say
from brido.search.own_search import own_search, says_length
from brido.search.settings import SearchSettings
from brido.settings import DecodingSettings, Params
from brido.tables import DECODED
from brido.work.running import Workers
from brido.work.shards import fingerprint
from brido.work.splits import Splits
from stages import paths
from stages.arguments import system_named

SPLITS = ("validation", "test")
COUNTS = ("truncated_sources", "empty_documents", "empty_summaries", "halved_batches")


def main() -> None:
    """Write data/decoded/SYSTEM/{validation,test}.parquet for the system on the command line."""
    params = load_params()
    known = params.decoded_systems
    decode(params, system_named("decode", known, "one of `decoded_systems`"))


def decode(params: Params, system: str) -> None:
    """Decode both splits with the system's checkpoint."""
    used = search_settings(paths.checkpoint(system), params.decoding)
    documents = {split: Documents(paths.corpus(split), None, "keep") for split in SPLITS}
    work = _summaries(params, system, used, documents)
    reading = params.reading_of(system).model_dump(mode="json")
    for split in SPLITS:
        totals = {name: work.totals(split)[name] for name in COUNTS}
        count = len(documents[split].ids)
        metadata = {"decoding": used, "reading": reading, "documents": count} | totals
        work.write(split, paths.decoded(system, split), metadata)
        notes = [f"{totals[name]:,} {name.replace('_', ' ')}" for name in COUNTS if totals[name]]
        say(", ".join([f"decode {system} {split}: {count:,} documents", *notes]))
    work.clear()


def search_settings(folder: Path, settings: DecodingSettings) -> dict[str, Any]:
    """The settings in use: params.yaml's where given, else the checkpoint's, else the defaults."""
    path = folder / "generation_config.json"
    if not path.is_file():
        name = "train" if folder.name == "tuned" else f"checkpoint@{folder.name}"
        raise BridoError(f"{path} is missing: make the checkpoint with `dvc repro {name}`")
    checkpoint = json.loads(path.read_text(encoding="utf-8"))
    used = own_search(checkpoint, settings.model_dump())
    if settings.max_length is None and not says_length(checkpoint):
        say(
            f"decode {folder.name}: neither decoding.max_length nor the checkpoint says how "
            f"long a summary may be: {used['max_length']} tokens"
        )
    return used


def _summaries(
    params: Params, system: str, used: dict[str, Any], documents: dict[str, Documents]
) -> Splits:
    """The finished shards of both splits."""
    from brido.candidates.worker import SummaryWorker

    folder, reading, runtime = paths.checkpoint(system), params.reading_of(system), params.runtime
    size = runtime.shard_documents
    # Shards of another size are other shards, though they make the same table.
    key = fingerprint([used, reading, size], [*(paths.corpus(split) for split in SPLITS), folder])
    units = {split: documents[split].parts(size) for split in SPLITS}
    work = Splits(f"decode/{system}", key, DECODED, units)
    settings = SearchSettings(**used, num_return_sequences=1)
    make = partial(SummaryWorker, folder, reading, runtime, settings)
    workers = Workers(worker_devices(runtime.device, runtime.workers))
    work.run(make, workers, f"decode {system}", runtime.log_seconds)
    return work


if __name__ == "__main__":
    run_command(main)
