"""What `brido init` does: look, decide, write, tell."""

from contextlib import chdir
from pathlib import Path

import click
import torch
from ruamel.yaml import YAML

from brido.cli.init.checks import CHECKS, choose_check
from brido.cli.init.data import Data, look
from brido.cli.init.limits import Limits, find_limits
from brido.cli.init.model import Model, another_model, find_model
from brido.cli.init.place import branch_of, check_place, checkout, commit, is_project, make_place
from brido.cli.init.plan import Recipe, make_plan
from brido.cli.init.room import find_room
from brido.cli.init.settings import params_text, reading_of
from brido.cli.init.speed import Speed, measure_speed
from brido.cli.init.tell import tell_checks, tell_data, tell_plan, tell_rival
from brido.corpus.checks import SPLITS
from brido.models.settings import ReadingSettings
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.settings.presets import read_preset
from brido.utils.errors import BridoError
from brido.utils.paths import user_path


def write(
    folder: Path | None,
    model: str | None,
    minutes: float,
    document_column: str | None,
    summary_column: tuple[str, ...],
    id_column: str | None,
    rename: tuple[str, ...],
    check: str | None,
    rival: tuple[str, str] | None = None,
    **files: tuple[str, ...],
) -> None:
    """Look at the files and the model, write params.yaml and print what was found and the plan.

    folder: the project of the run, None for the working directory. files: paths or globs of train,
    validation and test; for the others see the command.

    Raises:
        BridoError: the files, the model or the folder cannot be used.
    """
    root, given = Path.cwd(), {split: list(files[split]) for split in SPLITS}
    if folder is not None:
        # The presets are the clone's, and paths have to hold in the project.
        root, folder = checkout(), folder.expanduser().absolute()
        check_place(folder, root)
        given = {split: [_whole(path) for path in paths] for split, paths in given.items()}
        model = _whole(model) if model and user_path(model).exists() else model
        if check and check not in CHECKS and user_path(check).is_dir():
            check = _whole(check)
    elif not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
        raise BridoError(
            f"{root} is not a clone of BRIDO: name a folder for a project (`brido init --train "
            "FILE FOLDER`), or run it in a project"
        )
    project = folder is not None or is_project(root)
    with chdir(root):
        data = look(given, document_column, list(summary_column), id_column, rename)
        found = find_model(model)
        if found.form == "embedded" and not data.summaries:
            raise BridoError(
                "--model: the embedded model learns from summaries, and there are none. One that "
                f"can write without them: {another_model()}"
            )
        limits = find_limits(data, found)
        tell_data(data, found, limits)
        recipe = Recipe.of(found, bool(data.summaries))
        speed = speed_of(data, found, limits)
        on_gpu = torch.cuda.is_available()
        plan = make_plan(data, found, limits, speed, on_gpu, recipe, minutes)
        preset = read_preset(found.preset)
        room = find_room(preset, found, limits, plan, speed, folder or root)
        chosen = choose_check(check, data, limits, plan, minutes)
        text = params_text(data, found, limits, plan, chosen.settings(), room.runtime, rival)
        check_params(YAML(typ="safe").load(text))
    changed = make_place(folder, root) if folder else ""
    with chdir(folder or root):
        kept = replace_params(text)
    if project:
        commit(folder or root)
    tell_plan(data, found, plan, recipe, minutes, folder, room)
    if rival:
        tell_rival(data, plan, *rival)
    tell_checks(data, chosen)
    if changed:
        click.echo(f"\nwarning: {changed}")
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"\n{(folder or Path()) / PARAMS_FILE} is written{old}.")
    if project:
        branch = branch_of(folder or root)
        click.echo(f"It is committed: `git checkout -f {branch}` undoes what an experiment left.")


def _whole(path: str) -> str:
    """A path or glob that holds in every working directory; an empty one stays as it is."""
    return str(user_path(path).absolute()) if path.strip() else path


def speed_of(data: Data, model: Model, limits: Limits) -> Speed | None:
    """Return how fast the model is on this machine; it runs for some seconds."""
    preset = read_preset(model.preset)
    reading = ReadingSettings(**reading_of(model, data, limits))
    learning = preset["checkpoints"]["base"].get("fine_tuning") or preset["training"]
    candidates = min(12, preset["generation"]["base"]["num_candidates"])
    return measure_speed(
        model, data.texts, data.summaries, reading, candidates, learning["batch_size"]
    )
