"""The text of every key of params.yaml, and the files that repeat it."""

import difflib
import json
import re
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import click
from rich.console import Console

from brido.settings.load import PARAMS_FILE, replace_params
from brido.settings.params import Params
from brido.settings.presets import DEFAULT, flatten, preset_text, read_preset
from brido.settings.text import Setting, settings
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, quoted

PAGE = Path("docs/configuration.md")
# Keys that have the texts of others, in their section or in another.
REPEATED = (
    "checkpoints.*.fine_tuning.world.",
    "generation.*.guidance.",
    "runtime.endpoints.*.",
    "training.lora.",
    "tuned.*.",
    "variants.*.",
)
_TABLE = re.compile(r"(<!-- settings (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


@click.command("options")
@click.argument("key", required=False, default="")
@click.option("--schema", is_flag=True, help="Print the JSON schema of params.yaml, for editors.")
@click.option(
    "--write",
    is_flag=True,
    help="For developers: write params.yaml and docs/configuration.md from the fields.",
)
def command(key: str, schema: bool, write: bool) -> None:
    """Print what KEY of params.yaml does. For a section, print all its keys; without KEY, all keys.

    `*` stands for a name of yours. A key that is not in params.yaml has its default. To change a
    key for one experiment: `dvc exp run -S KEY=VALUE`, or `-S '+KEY=VALUE'` if it is not there.

    \b
    Example:
        brido options runtime.endpoint
    """
    if schema:
        click.echo(json.dumps(Params.model_json_schema(), indent=1))
    elif write:
        if not PAGE.is_file():
            raise BridoError(f"--write: {PAGE} is not here: go to the folder of the repository")
        for path, text in generated().items():
            replace_params(text) if path == PARAMS_FILE else write_text(path, text)
            click.echo(f"{path} is up to date")
    else:
        _show(key)


def _show(key: str) -> None:
    found = [one for one in settings() if _matches(one.key, key)]
    if not found:
        known = [one.key for one in settings()]
        same = [name for name in known if name.endswith(f".{key}")]  # without its section
        names = ", ".join((same or difflib.get_close_matches(key, known))[:5])
        meant = f"; did you mean {names}?" if names else ""
        raise BridoError(
            f"there is no key {quoted(key)} in params.yaml{meant} (`brido options` lists all keys)"
        )
    for one in found:
        click.echo(f"{one.key} ({f'default {one.default}' if one.default else 'needed'})")
        click.echo(indent(fill(_told(one), Console().width - 4), " " * 4))


def _matches(key: str, asked: str) -> bool:
    """Return whether `asked` is the key or a section around it; any name fits `*`."""
    parts, wanted = key.split("."), asked.split(".") if asked else []
    pairs = zip(parts, wanted, strict=False)
    return len(wanted) <= len(parts) and all(part in ("*", one) for part, one in pairs)


def generated() -> dict[Path, str]:
    """Return the files that repeat the defaults and texts of settings, as they should be."""
    default, page = read_preset(DEFAULT), PAGE.read_text(encoding="utf-8")
    tables = _TABLE.sub(lambda marked: _table(marked, default), page)
    return {PARAMS_FILE: preset_text(DEFAULT), PAGE: tables}


def _table(marked: re.Match[str], default: dict[str, Any]) -> str:
    """A table of the sections that its marker names.

    It lacks the keys of params.yaml, and those that repeat others.
    """
    written = {
        re.sub(r"^(checkpoints|generation|reading)\.\w+", r"\1.*", k) for k in flatten(default)
    }
    rows = [
        one
        for section in marked[2].split()
        for one in settings()
        if one.key.startswith(f"{section}.") and one.key not in written
        if not one.key.startswith(REPEATED)
    ]
    # Keys that mean the same in two sections share a row.
    together: dict[tuple[str, ...], list[Setting]] = {}
    for one in rows:
        name = one.key.rpartition(".")[2]
        together.setdefault((name, one.default, one.text), []).append(one)
    lines = ["| key | default | what it does |", "|---|---|---|", *map(_row, together.values())]
    return marked[1] + "\n".join(lines) + "\n" + marked[3]


def _row(same: list[Setting]) -> str:
    keys = ", ".join(f"`{one.key}`" for one in same)
    default = f"`{same[0].default}`" if same[0].default else "needed"
    text = (same[0].text if len(same) > 1 else _told(same[0])).replace("|", "\\|")
    return f"| {keys} | {default} | {text} |"


def _told(one: Setting) -> str:
    return f"{one.text} ({one.form})" if one.form else one.text
