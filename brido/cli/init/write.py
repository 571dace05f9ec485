"""What `brido init` does: look, decide, write, tell."""

from contextlib import chdir
from pathlib import Path

import click
import torch
from ruamel.yaml import YAML

from brido.cli.init.checks import check_settings, is_at_hand, minutes_of_minicheck
from brido.cli.init.data import look
from brido.cli.init.found import Found
from brido.cli.init.model import find_model
from brido.cli.init.place import branch_of, check_place, checkout, commit, is_project, make_place
from brido.cli.init.plan import make_plan
from brido.cli.init.room import find_room
from brido.cli.init.settings import params_text, reading_of
from brido.cli.init.speed import measure_speed
from brido.cli.init.tell import tell_check, tell_data, tell_plan
from brido.corpus.checks import SPLITS
from brido.models.settings import ReadingSettings
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.utils.errors import BridoError
from brido.utils.paths import user_path


def write(
    folder: Path | None,
    model: str,
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
        # Paths have to hold in the project.
        root, folder = checkout(), folder.expanduser().absolute()
        check_place(folder)
        given = {split: [_whole(path) for path in paths] for split, paths in given.items()}
        model = _whole(model) if user_path(model).exists() else model
        check = _whole(check) if check and user_path(check).is_dir() else check
    elif not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
        raise BridoError(
            f"{root} is not a clone of BRIDO: name a folder for a project (`brido init --train "
            "FILE FOLDER`), or run it in a project"
        )
    home = folder or root
    project = folder is not None or is_project(root)
    with chdir(root):
        check_settings(check or "mentions")
        data = look(given, document_column, list(summary_column), id_column, rename)
        found = Found.of(data, find_model(model))
        tell_data(found)
        reading = ReadingSettings(**reading_of(found))
        speed = measure_speed(found.model, data.texts, data.summaries, reading)
        plan = make_plan(found, speed, torch.cuda.is_available(), minutes)
        room = find_room(found, plan, speed, home)
        takes = minutes_of_minicheck(found, plan)
        if check is None:
            check = "minicheck" if is_at_hand() and 2 * takes < minutes else "mentions"
        changes = check_settings(check) | {"runtime": found.recipe["runtime"] | room.runtime}
        text = params_text(found, plan, changes, rival)
        check_params(YAML(typ="safe").load(text))
    if folder:
        make_place(folder, root)
    with chdir(home):
        kept = replace_params(text)
    tell_plan(found, plan, room, minutes, f"cd {folder} && " if folder else "", rival)
    tell_check(data, check, takes)
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"\n{(folder or Path()) / PARAMS_FILE} is written{old}.")
    if project:
        commit(home)
        back = f"git checkout -f {branch_of(home)}"
        click.echo(f"It is committed: `{back}` undoes what an experiment left.")


def _whole(path: str) -> str:
    """A path or glob that holds in every working directory; an empty one stays as it is."""
    return str(user_path(path).absolute()) if path.strip() else path
