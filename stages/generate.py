"""Stage generate: candidates of every document from one source of `generation`.

    python -m stages.generate SOURCE

Several GPUs work side by side (see `runtime.workers`).
"""

from itertools import islice

from brido.candidates.documents import SplitDocuments
from brido.candidates.generate import Request, describe, examples, generate, notes
from brido.candidates.look import Look, example_lines
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.utils.errors import run_command
from brido.utils.progress import say
from stages import paths
from stages.arguments import name_given

# Documents of a split whose candidates are looked at as soon as they are there.
LOOKED_AT = 200


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
        for note in notes(description):
            say(f"generate {source} {split}: {note}")
        show(source, split, settings.method)
    work.clear()


def show(source: str, split: str, method: str) -> None:
    """Show a document's reference and candidates, and warn if they are not a basis for a vote."""
    found = examples(paths.candidates(source, split), paths.corpus(split), source)
    look = Look()
    for example in islice(found, LOOKED_AT):
        if not look.counts:
            for line in example_lines(example):
                say(f"generate {source} {split}: {line}")
        look.add(example)
    if not look.counts:
        return
    say(f"generate {source} {split}: of {look.counts['candidates']:,} candidates {look.summary()}")
    if warning := look.warning(source, method):
        say(f"generate {source} {split}: warning: {warning}")


if __name__ == "__main__":
    run_command(main)
