"""Check a params.yaml: every problem in one message, misspelt keys with a suggestion."""

from pathlib import Path

import click


@click.command("config")
@click.argument("file", type=click.Path(path_type=Path), default="params.yaml")
def command(file: Path) -> None:
    """Check FILE (default: params.yaml), and name all its problems in one message.

    DVC removes a stage's old results before the stage reads its settings, so check them before DVC
    starts.

    \b
    Example:
        brido config presets/xsum.yaml
    """
    from brido.settings.load import PARAMS_FILE, load_params
    from brido.settings.presets import PRESETS, load_preset
    from brido.utils.errors import BridoError
    from brido.utils.progress import say

    if file != PARAMS_FILE and not file.is_file():
        raise BridoError(f"there is no file {file}: name a params.yaml, or {PRESETS}/NAME.yaml")
    # A preset is checked with what it leaves to the default.
    if file.is_file() and file.parent.name == PRESETS.name and file.suffix == ".yaml":
        load_preset(file.stem, file.parent)
    else:
        for sentence in load_params(file).warnings():
            say(f"config: warning: {sentence}")
    click.echo(f"{file} is fine: every key is known and every value fits")
