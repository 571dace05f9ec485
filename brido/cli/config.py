"""Check a params.yaml: every problem in one message, misspelt keys with a suggestion."""

from pathlib import Path

import click

from brido.settings.load import PARAMS_FILE, load_params


@click.command("config", short_help="is params.yaml right?")
@click.argument("file", type=click.Path(path_type=Path), default=PARAMS_FILE)
def command(file: Path) -> None:
    """Check FILE (params.yaml): every problem in one message, misspelt keys with a suggestion.

    DVC removes a stage's old results before the stage reads its settings, so check them before DVC
    starts.

    \b
    Example:
        python -m brido config presets/xsum.yaml
    """
    load_params(file)
    click.echo(f"{file} is fine: every key is known and every value fits")
