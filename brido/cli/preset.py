"""Make a preset the params.yaml."""

from pathlib import Path

import click

from brido.settings.load import PARAMS_FILE, load_params, replace_params
from brido.settings.presets import PRESETS, heading, preset_names, preset_text
from brido.utils.errors import BridoError


@click.command("preset")
@click.argument("name", required=False, default="")
def command(name: str) -> None:
    """Put the settings of preset NAME into params.yaml. Without NAME, list the presets.

    presets/NAME.yaml holds what differs from the default; params.yaml gets both, merged. The old
    params.yaml is kept in .brido/. The preset `default` goes back to the start.

    \b
    Example:
        brido preset xsum
    """
    if not PRESETS.is_dir():
        raise BridoError(f"{Path.cwd()} has no presets: run `brido preset` in a clone of BRIDO")
    if not name:
        for known in preset_names():
            first = heading(known).replace("\n", " ").partition(". ")[0]
            click.echo(f"{known:<10} {first}")
        click.echo("\n`brido preset NAME` puts one into params.yaml. Nothing has changed yet.")
        return
    kept = replace_params(preset_text(name))
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"{PARAMS_FILE} has the settings of preset {name}{old} (`git diff {PARAMS_FILE}`).")
    click.echo(f"`dvc repro` runs it. Its systems are {', '.join(load_params().all_systems)}.")
