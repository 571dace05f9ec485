"""Stage decode: one system's summary of every validation and test document, by beam search.

    python -m stages.decode SYSTEM

SYSTEM is base, or a key of `tuned`.

Several GPUs work side by side (see `runtime.workers`).
"""

from functools import partial
from pathlib import Path
from typing import Any

from brido.candidates.decoding import search_settings
from brido.candidates.documents import SplitDocuments, cut_warning, shard_keys, writing_work
from brido.search.settings import SearchSettings
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import DECODED
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from brido.work.running import Splits
from brido.work.shards import fingerprint
from brido.work.worker import model_workers
from stages import paths
from stages.arguments import name_given

SPLITS = ("validation", "test")
COUNTS = (
    *("truncated_sources", "unread_thousandths", "empty_documents", "empty_summaries"),
    "halved_batches",
)
# Of summaries that are checked: candidates that took a summary's place, summaries that fail.
OWN_COUNTS = ("replaced", "flagged")


def main() -> None:
    """Write data/decoded/SYSTEM/{validation,test}.parquet for the system on the command line."""
    params = load_params()
    system = name_given("decode", "SYSTEM", ["base", *params.tuned], "base or a key of `tuned`")
    if system == "base" and paths.is_left_empty(paths.checkpoint("base")):
        with atomic_folder(paths.decoded("base").parent):
            say("decode base: checkpoints.base.source is none: there are no summaries of base")
        return
    decode(params, system)


def decode(
    params: Params, system: str, make_worker: Any = None, about: dict[str, Any] | None = None
) -> None:
    """Decode both splits with the system's checkpoint and what a variant changes.

    make_worker: a `SummaryWorker` of the variant's own, which counts what its rows came of; about:
    the settings that it has beside a SummaryWorker's, for the table's metadata.
    """
    from brido.candidates.local import SummaryWorker

    runtime, reading = params.runtime, params.reading_of(system)
    folder = paths.checkpoint(params.model_of(system))
    used = search_settings(folder, params.decoding_of(system))
    guidance = params.variant_of(system).guidance
    documents = {split: SplitDocuments(paths.corpus(split), None) for split in SPLITS}
    settings = SearchSettings(**used, num_return_sequences=1, count_prompt=False)
    writing = writing_work(settings, reading, guidance)
    units = {split: own.units(runtime, writing) for split, own in documents.items()}
    decides = [used, reading, guidance, *(about or {}).values()]
    keys = shard_keys(decides, [folder, Path(__file__)], documents, units)
    work = Splits(f"decode/{system}", fingerprint(keys), DECODED, units, keys)
    make = partial(make_worker or SummaryWorker, folder, reading, runtime, settings, guidance)
    work.run(make, model_workers(runtime), f"decode {system}", runtime.log_seconds)
    for split in SPLITS:
        counted = work.totals(split)
        totals = {name: counted[name] for name in (*COUNTS, *(OWN_COUNTS if about else ()))}
        count = len(documents[split].ids)
        label = f"decode {system} {split}"
        _check_that_it_writes(label, folder, count - totals["empty_documents"], totals)
        metadata = {"decoding": used, "reading": reading.model_dump(mode="json")}
        metadata |= {"documents": count} | totals | (about or {})
        if guidance:
            metadata["guidance"] = guidance.model_dump(mode="json")
        work.write(split, paths.decoded(system, split), metadata)
        shown = [name for name in COUNTS if totals[name] and name != "unread_thousandths"]
        notes = [f"{totals[name]:,} {name.replace('_', ' ')}" for name in shown]
        say(", ".join([f"{label}: {count:,} documents", *notes]))
        cut, unread = totals["truncated_sources"], totals["unread_thousandths"]
        if warning := cut_warning(cut, unread, count, reading.max_source_tokens):
            say(f"{label}: warning: {warning}")
    work.clear()


def _check_that_it_writes(label: str, folder: Path, written: int, totals: dict[str, int]) -> None:
    if written and totals["empty_summaries"] == written:
        raise BridoError(
            f"{label}: all {written:,} summaries are empty, and no metric can judge them. {folder} "
            "ends every text at once, or writes special tokens alone. Was it trained to its end, "
            "with this tokenizer? decoding.min_length shows what it would go on to write"
        )


if __name__ == "__main__":
    run_command(main)
