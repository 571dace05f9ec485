"""What `brido init own` does in a checkout: look, decide, write, tell."""

from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path

import click
import torch
from ruamel.yaml import YAML

from brido.cli.init.cost import Recipe, RunPlan
from brido.cli.init.data import Data, look
from brido.cli.init.limits import Limits, find_limits
from brido.cli.init.model import Model, another_model, find_model
from brido.cli.init.place import checkout, commit, make_place
from brido.cli.init.plan import make_plan
from brido.cli.init.settings import params_text, reading_of
from brido.cli.init.speed import measure_speed
from brido.cli.init.tell import tell_data, tell_plan
from brido.models.settings import ReadingSettings
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.settings.presets import read_preset
from brido.utils.errors import BridoError


def write(
    files: Mapping[str, Sequence[str]],
    document: str | None,
    summary: str | Sequence[str] | None,
    model: str | None,
    identity: str | None,
    minutes: float,
    folder: Path | None = None,
) -> None:
    """Look at the files and the model, write params.yaml and print what was found and the plan.

    files: paths or globs by split; document, summary, identity: see
    `brido.cli.init.data.look`. minutes: how long the run may take. folder: the project of
    the run (`brido.cli.init.place`), None for the working directory.

    Raises:
        BridoError: the files or the model cannot be used.
    """
    data = look(files, document, summary, identity)
    found = find_model(model)
    if found.form == "embedded" and not data.summaries:
        raise BridoError(
            "--model: the embedded model learns from summaries, and there are none. One that can "
            f"write without them: {another_model()}"
        )
    limits = find_limits(data, found)
    tell_data(data, found, limits)
    recipe = recipe_of(found, bool(data.summaries))
    plan = plan_for(data, found, limits, recipe, minutes)
    text = params_text(data, found, limits, plan)
    check_params(YAML(typ="safe").load(text))
    kept = _store(text, folder)
    tell_plan(data, found, limits, plan, recipe, minutes, folder)
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"\n{(folder or Path()) / PARAMS_FILE} is written{old}.")


def _store(text: str, folder: Path | None) -> Path | None:
    if folder is None:
        return replace_params(text)
    make_place(folder, checkout())
    with chdir(folder):
        kept = replace_params(text)
    commit(folder)
    return kept


def recipe_of(model: Model, labelled: bool) -> Recipe:
    """What the preset of this kind of model says of a run's size.

    labelled: whether there are references, without which none can have a weight in an order.
    """
    preset = read_preset(model.preset)
    tuned = [
        name
        for name, changes in preset["tuned"].items()
        if labelled or not changes.get("scoring", {}).get("alpha")
    ]
    variants = {
        name: 1 + changes.get("guidance", {}).get("others", 0)
        for name, changes in preset["variants"].items()
    }
    return Recipe(
        preset["decoding"]["num_beams"],
        preset["checkpoints"]["base"].get("embedded", {}).get("epochs", 0),
        preset["likelihood"]["others"],
        # Encoder-decoders: how many are enough was not measured.
        preset["documents"]["train"] if model.form == "decoder_only" else None,
        tuple(tuned),
        variants,
    )


def plan_for(data: Data, model: Model, limits: Limits, recipe: Recipe, minutes: float) -> RunPlan:
    """Return the plan for this machine; it runs the model for some seconds."""
    preset = read_preset(model.preset)
    reading = ReadingSettings(**reading_of(model, data, limits))
    learning = preset["checkpoints"]["base"].get("fine_tuning") or preset["training"]
    speed = measure_speed(
        model,
        data.texts,
        data.summaries,
        reading,
        min(12, preset["generation"]["base"]["num_candidates"]),
        learning["batch_size"],
    )
    return make_plan(data, model, limits, speed, torch.cuda.is_available(), recipe, minutes)
