"""Stage generate: N candidates of every document, by diverse beam search, sampling or from files.

Several GPUs work side by side (see `runtime.workers`).
"""

from brido.candidates.documents import Documents
from brido.candidates.generate import describe, generate, notes
from brido.candidates.sources import Request
from brido.config import load_params
from brido.errors import run_command
from brido.progress import say
from stages import paths

SPLITS = ("train", "validation")


def main() -> None:
    """Write data/candidates/{train,validation}.parquet."""
    params = load_params()
    settings, key = params.generation, "generation.empty_documents"
    documents = {
        split: Documents(
            paths.corpus(split),
            getattr(settings, f"{split}_documents"),
            settings.empty_documents,
            key,
        )
        for split in SPLITS
    }
    reading, base = params.reading_of("base"), paths.checkpoint("base")
    request = Request(settings, reading, params.runtime, base, documents)
    work = generate(request)
    for split in SPLITS:
        description = describe(request, split, work)
        work.write(split, paths.candidates(split), description)
        for note in notes(description):
            say(f"generate {split}: {note}")
    work.clear()


if __name__ == "__main__":
    run_command(main)
