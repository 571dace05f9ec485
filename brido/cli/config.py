"""Check a params.yaml: every problem in one message, misspelt keys with a suggestion."""

from collections.abc import Iterator
from pathlib import Path

import click

from brido.candidates.settings import NO_CHECKPOINT
from brido.settings.dvc_files import mend_dvc_files
from brido.settings.dvc_keys import DVC_YAML, check_dvc_keys
from brido.settings.load import PARAMS_FILE, load_params
from brido.settings.params import Params
from brido.settings.presets import PRESETS, load_preset


@click.command("config")
@click.argument("file", type=click.Path(path_type=Path), default=PARAMS_FILE)
def command(file: Path) -> None:
    """Check FILE (default: params.yaml), and name all its problems in one message.

    DVC removes a stage's old results before the stage reads its settings, so check them before DVC
    starts. If a kill damaged dvc.lock, the last good one is put back.

    \b
    Example:
        python -m brido config presets/xsum.yaml
    """
    if file == PARAMS_FILE:
        for sentence in mend_dvc_files():
            click.echo(f"config: {sentence}")
    # A preset is checked with what it leaves to the default.
    if file.parent.name == PRESETS.name and file.suffix == ".yaml":
        load_preset(file.stem, file.parent)
    else:
        params = load_params(file)
        if file == PARAMS_FILE and DVC_YAML.is_file():
            check_dvc_keys(file, params)
        for sentence in [*params.warnings(), *left_over(params), *other_stages()]:
            click.echo(f"config: warning: {sentence}")
    click.echo(f"{file} is fine: every key is known and every value fits")


def left_over(params: Params) -> Iterator[str]:
    """What lies in data/ of systems that params.yaml does not name any more."""
    known = {*params.checkpoints, *params.all_systems, NO_CHECKPOINT}
    for folder in sorted(Path("data/checkpoints").glob("*")):
        if folder.name not in known:
            yield (
                f"{folder} is left of a system that params.yaml does not name. It does no harm; to "
                f"free its space: rm -r {folder} data/*/{folder.name}"
            )


def other_stages(folder: Path = Path()) -> Iterator[str]:
    """Whether dvc.yaml is older than the stages that run: a project of `brido init` has a copy."""
    checkout = (folder / "stages").resolve().parent
    ours, theirs = folder / DVC_YAML, checkout / DVC_YAML
    if ours.is_file() and theirs.is_file() and ours.read_bytes() != theirs.read_bytes():
        yield f"{ours} is not that of the stages that run here: cp {theirs} {ours}"
