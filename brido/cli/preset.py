"""Make a preset the params.yaml and say what changes."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from brido.settings.load import PARAMS_FILE, check_params, read_yaml, replace_params
from brido.settings.presets import (
    PRESETS,
    flatten,
    heading,
    preset_names,
    preset_text,
    read_preset,
)
from brido.settings.text import yaml_text
from brido.utils.errors import BridoError


@click.command("preset")
@click.argument("name", required=False, default="")
def command(name: str) -> None:
    """Put the settings of preset NAME into params.yaml, and print every value that changes.

    Without NAME, list the presets. presets/NAME.yaml holds what differs from the default;
    params.yaml gets both, merged.
    The old params.yaml is kept in .brido/. The preset `default` goes back to the start.

    \b
    Example:
        brido preset xsum
    """
    if not PRESETS.is_dir():
        raise BridoError(f"{Path.cwd()} has no presets: run `brido preset` in a clone of BRIDO")
    if not name:
        _show(["preset", "what it is"], [
            (name, heading(name).replace("\n", " ").partition(". ")[0]) for name in preset_names()
        ])  # fmt: skip
        click.echo("\n`brido preset NAME` puts one into params.yaml. Nothing has changed yet.")
        return
    changed, kept = put_in_place(name)
    _show(["key", "old", "new"], changed)
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"\n{PARAMS_FILE} has the settings of preset {name}{old}.")
    systems = ", ".join(check_params(read_yaml(PARAMS_FILE)).all_systems)
    click.echo(f"`dvc repro` runs it. Its systems are {systems}.")


def put_in_place(name: str) -> tuple[list[tuple[str, str, str]], Path | None]:
    """Replace params.yaml by the preset and return its changes and where the old file is kept.

    Raises:
        BridoError: there is no such preset, or it does not pass the checks of params.yaml.
    """
    text, new, old = preset_text(name), read_preset(name), {}
    with suppress(BridoError):  # missing, or damaged: a preset mends it
        old = read_yaml(PARAMS_FILE)
    before, after = (flatten(each) if isinstance(each, dict) else {} for each in (old, new))
    changes = [
        (
            key,
            yaml_text(before[key]) if key in before else "",
            yaml_text(after[key]) if key in after else "(gone)",
        )
        for key in after | before
        if key not in after or key not in before or before[key] != after[key]
    ]
    return changes, replace_params(text)


def _show(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(*columns, box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*(cell.replace("[", "\\[") for cell in row))
    Console().print(table)
