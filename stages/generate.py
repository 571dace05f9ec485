"""Stage generate: candidates of every document from one source of `generation`.

    python -m stages.generate SOURCE

Several GPUs work side by side (see `runtime.workers`).
"""

from brido.candidates.documents import SplitDocuments
from brido.candidates.generate import Request, describe, generate, notes
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.utils.errors import run_command
from brido.utils.progress import say
from stages import paths
from stages.arguments import name_given


def main() -> None:
    """Write data/candidates/SOURCE/{train,validation,test}.parquet of the source that is named."""
    params = load_params()
    make(params, name_given("generate", "SOURCE", params.generation, "a key of `generation`"))


def make(params: Params, source: str) -> None:
    """Make the candidates of all splits."""
    settings, wanted = params.generation[source], params.documents
    documents = {
        split: SplitDocuments(paths.corpus(split), getattr(wanted, split))
        for split in wanted.splits
    }
    # An endpoint has a name of its own in `reading`.
    reader = source if settings.method == "endpoint" else settings.checkpoint
    request = Request(
        source,
        settings,
        params.reading_of(reader),
        params.runtime,
        paths.checkpoint(settings.checkpoint),
        documents,
    )
    work = generate(request)
    for split in documents:
        description = describe(request, split, work)
        work.write(split, paths.candidates(source, split), description)
        for note in notes(source, description):
            say(f"generate {source} {split}: {note}")
    work.clear()


if __name__ == "__main__":
    run_command(main)
