"""Stage vary: the summaries of one variant, a system for which nothing is trained.

    python -m stages.vary SYSTEM

SYSTEM is a key of `variants`: a checkpoint with other keys of `decoding`, whose summaries a check
may pick, or a chat model behind a server.
"""

from collections import Counter
from functools import partial
from typing import Any

from brido.candidates.decoding import search_settings
from brido.candidates.documents import SplitDocuments
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.summarizer.settings import AskedSystem, CheckedSettings
from brido.tables import DECODED, write_table
from brido.utils.errors import run_command
from brido.utils.progress import say
from stages import paths
from stages.arguments import name_given
from stages.decode import SPLITS, decode


def main() -> None:
    """Write data/decoded/SYSTEM/{validation,test}.parquet for the system on the command line."""
    params = load_params()
    system = name_given("vary", "SYSTEM", params.variants, "a key of `variants`")
    if params.model_of(system) == "base":
        paths.check_base(f"vary {system}")
    if asked := params.variant_of(system).endpoint:
        ask(params, system, asked)
    elif settings := params.variant_of(system).checked:
        decode_checked(params, system, settings)
    else:
        decode(params, system)


def ask(params: Params, system: str, asked: AskedSystem) -> None:
    """Ask a server about the documents of both splits; what its store holds is not asked again."""
    from brido.candidates.endpoint import Asker, SummaryAnswers

    server, section = params.runtime.endpoint_of(asked.endpoint), f"variants.{system}.endpoint"
    asker = Asker(section, asked, 1, asked.reading, server)
    documents = {split: SplitDocuments(paths.corpus(split), None) for split in SPLITS}
    asker.ask(documents.values(), params.runtime.log_seconds)
    worker = SummaryAnswers(asker)
    for split, own in documents.items():
        made = [worker(part) for part in own.parts(params.runtime.documents_of_shard)]
        counts = sum((Counter(counted) for _, counted in made), Counter())
        about = {"endpoint": asked.model_dump(mode="json"), "documents": len(own.ids)}
        path = paths.decoded(system, split)
        write_table(path, [rows for rows, _ in made], DECODED, about | dict(sorted(counts.items())))
        notes = [f"{count:,} {name}" for name, count in sorted(counts.items())]
        say(", ".join([f"vary {system} {split}: {len(own.ids):,} documents", *notes]))


def decode_checked(params: Params, system: str, settings: CheckedSettings) -> None:
    """Decode both splits; candidates take the place of summaries that fail the check."""
    from brido.summarizer.checked import CheckedWorker, Checking

    folder = paths.checkpoint(params.model_of(system))
    used = search_settings(folder, params.decoding_of(system))
    source = settings.source(params.candidates_of(system), used["max_length"])
    checking = Checking(settings, source, used["length_penalty"])
    about: dict[str, Any] = {
        "checked": settings.model_dump(mode="json"),
        "candidates": source.model_dump(mode="json"),
    }
    decode(params, system, partial(CheckedWorker, checking), about)


if __name__ == "__main__":
    run_command(main)
