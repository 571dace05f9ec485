"""A model of the run as a folder for others: `brido export-model`."""

import shutil
from pathlib import Path

import click

from brido.cli.shared import DATA, chosen_system
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError
from brido.utils.progress import say

CARD = Path("report/model_card.md")


@click.command("export-model")
@click.argument("system", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=DATA / "export" / "model",
    help="A new folder.",
)
def command(system: str | None, output: Path) -> None:
    """Write the model of SYSTEM (default: the one that the run chose) into a new folder.

    The chosen one comes with its card as README.md, ready for a hub of models. The folder says how
    the model reads and decodes (brido.json): `brido summarize --model FOLDER` takes it.

    \b
    Example:
        brido export-model -o my/model
    """
    from brido.cli.project import CHOSEN, find_model
    from brido.report.card import weights_named, weights_of
    from brido.summarizer.usage import tell_transformers, write_model

    if output.exists():
        raise BridoError(f"--output must be a new folder, and {output} is there already")
    model = find_model(None, None if system == chosen_system() else system)
    if model.asker:
        raise BridoError(f"a server writes {model.usage.system}, so it has no model to export")
    about = f"without a card: {CARD} is about the chosen system"
    if model.folder == CHOSEN:
        about = "with its card"
        if not CARD.is_file() or weights_named(CARD.read_text("utf-8")) != weights_of(CHOSEN):
            raise BridoError(f"{CARD} does not describe {CHOSEN}: make it with `dvc repro report`")
    # The run's own folder stays as DVC knows it.
    with atomic_folder(output) as temporary:
        write_model(model.folder, temporary, model.usage)
        if model.folder == CHOSEN:
            shutil.copyfile(CARD, temporary / "README.md")
        tell_transformers(temporary)
    say(f"export-model: {model.folder} to {output}, {about}")
