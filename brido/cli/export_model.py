"""A model of the run as a folder for others: `brido export-model`."""

import shutil
from pathlib import Path

import click

from brido.cli.shared import data_option
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, close_to
from brido.utils.progress import say
from brido.utils.stored import read_json

CARD = Path("report/model_card.md")
CHOICE = Path("metrics/choice.json")


@click.command("export-model")
@click.argument("system", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A new folder. Default: DATA/export/model.",
)
@data_option("The folder of the pipeline's tables.")
def command(system: str | None, output: Path | None, data: Path) -> None:
    """Write the model of SYSTEM (default: the one that the run chose) into a new folder.

    The chosen one comes with its card as README.md, ready for a hub of models. The folder says how
    the model reads and decodes (brido.json): `brido summarize --model FOLDER` takes it.

    \b
    Example:
        brido export-model -o my/model
    """
    folder = output or data / "export" / "model"
    if folder.exists():
        raise BridoError(f"--output must be a new folder, and {folder} is there already")
    if system is None or system == chosen_system():
        _export_chosen(data / "chosen", folder)
    else:
        _export_other(system, data, folder)


def chosen_system() -> str | None:
    """The system that metrics/choice.json says the run keeps; None without that file.

    Raises:
        BridoError: the file cannot be read.
    """
    if not CHOICE.is_file():
        return None
    chosen: str = read_json(CHOICE, "choose", chosen=str)["chosen"]
    return chosen


def _export_chosen(chosen: Path, folder: Path) -> None:
    from brido.report.card import weights_named, weights_of
    from brido.summarizer.usage import tell_transformers

    if (chosen / "brido.json").is_file() and not (chosen / "config.json").is_file():
        raise BridoError(f"a server writes the chosen system: {chosen} has no model to export")
    weights = weights_of(chosen)
    if not CARD.is_file() or weights_named(CARD.read_text(encoding="utf-8")) != weights:
        raise BridoError(f"{CARD} does not describe {chosen}: make it with `dvc repro report`")
    with atomic_folder(folder) as temporary:
        # The stage's own output stays as DVC knows it.
        shutil.copytree(chosen, temporary, dirs_exist_ok=True)
        shutil.copyfile(CARD, temporary / "README.md")
        tell_transformers(temporary)
    say(f"export-model: {chosen} with its card to {folder}")


def _export_other(system: str, data: Path, folder: Path) -> None:
    from brido.settings.load import load_params
    from brido.summarizer.usage import tell_transformers, usage_of, write_model

    params = load_params()
    if system not in params.choosable:
        raise BridoError(f"no model here writes {system}{close_to(system, params.choosable)}")
    if params.variant_of(system).endpoint:
        raise BridoError(f"a server writes {system}: there is no model to export")
    model = data / "checkpoints" / params.model_of(system)
    if not model.is_dir():
        raise BridoError(f"{model} is missing: make it with `dvc repro`")
    with atomic_folder(folder) as temporary:
        write_model(model, temporary, usage_of(model, **params.usage_of(system)))
        tell_transformers(temporary)
    say(f"export-model: {model}, without a card: {CARD} is about the chosen system, to {folder}")
