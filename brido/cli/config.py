"""Check a params.yaml: every problem in one message, misspelt keys with a suggestion."""

from pathlib import Path

import click

from brido.settings.dvc_files import mend_dvc_files
from brido.settings.load import PARAMS_FILE, load_params
from brido.settings.presets import PRESETS, load_preset


@click.command("config", short_help="check params.yaml before a run")
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
        load_params(file)
    click.echo(f"{file} is fine: every key is known and every value fits")
