"""A model of the run as a folder for others: `brido export-model`."""

import os
import shutil
from pathlib import Path

import click

from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, close_to, quoted
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
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="The folder of the pipeline's tables.",
)
def command(system: str | None, output: Path | None, data: Path) -> None:
    """Write the model of SYSTEM (default: the one that the run chose) into a new folder.

    The chosen one comes with its card as README.md, ready for a hub of models. The folder says how
    the model reads and decodes (brido.json): `brido summarize --model FOLDER` takes it.

    \b
    Example:
        brido export-model -o my/model
    """
    export_model(system, data, output or data / "export" / "model")


def chosen_system() -> str | None:
    """The system that metrics/choice.json says the run keeps; None without that file.

    Raises:
        BridoError: the file cannot be read.
    """
    if not CHOICE.is_file():
        return None
    chosen: str = read_json(CHOICE, "choose", chosen=str)["chosen"]
    return chosen


def export_model(named: str | None, data: Path, folder: Path) -> None:
    """Copy the chosen system's model, or that of a named one, into a new folder.

    The chosen one comes with its card as README.md; both have brido.json, which says how the model
    reads and decodes.

    Raises:
        BridoError: the folder is there already, the model or its card is missing, or they do not
            belong together.
    """
    if os.path.lexists(folder):
        raise BridoError(f"--output must be a new folder, and {folder} is there already")
    chosen = chosen_system()
    if named is None or named == chosen:
        _export_chosen(data / "chosen", folder)
    else:
        _export_other(named, data, folder)


def _export_chosen(chosen: Path, folder: Path) -> None:
    from brido.report.card import weights_named, weights_of
    from brido.summarizer.usage import tell_transformers

    if (chosen / "brido.json").is_file() and not (chosen / "config.json").is_file():
        raise BridoError(f"a server writes the chosen system: {chosen} has no model to export")
    weights = weights_of(chosen)
    if not CARD.is_file():
        raise BridoError(f"{CARD} is missing: make it with `dvc repro report`")
    text = CARD.read_text(encoding="utf-8")
    if weights_named(text) != weights:
        raise BridoError(
            f"{CARD} describes other weights than {chosen} holds: make it again with `dvc repro "
            "report`"
        )
    with atomic_folder(folder) as temporary:
        # The stage's own output stays as DVC knows it.
        shutil.copytree(chosen, temporary, dirs_exist_ok=True)
        (temporary / "README.md").write_text(text, encoding="utf-8")
        tell_transformers(temporary)
    say(f"export-model: {chosen} with its card to {folder}")


def _export_other(system: str, data: Path, folder: Path) -> None:
    from brido.settings.load import load_params
    from brido.summarizer.usage import tell_transformers, usage_of, write_model

    params = load_params()
    if system not in params.choosable:
        raise BridoError(f"no model writes {quoted(system)}{close_to(system, params.choosable)}")
    if params.asked_of(system):
        raise BridoError(f"{system} is written by a server, so there is no model to export")
    model = data / "checkpoints" / params.model_of(system)
    if not model.is_dir():
        raise BridoError(f"{model} is missing: make it with `dvc repro`")
    usage = usage_of(
        model,
        params.reading_of(system),
        params.decoding_of(system),
        params.guidance_of(system),
        system,
        lowercase=params.data.lowercase,
        checked=params.checked_of(system),
        candidates=params.candidates_of(system),
    )
    with atomic_folder(folder) as temporary:
        write_model(model, temporary, usage)
        tell_transformers(temporary)
    say(f"export-model: {model}, without a card: {CARD} is about the chosen system, to {folder}")
