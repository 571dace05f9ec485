"""`python -m experiments.preset NAME` makes a preset the params.yaml and says what changes."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brido.settings.load import (
    PARAMS_FILE,
    PREVIOUS,
    check_params,
    load_params,
    read_yaml,
    replace_params,
)
from brido.utils.errors import BridoError, run_command

PRESETS = Path("presets")


def flatten(section: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The leaves of nested sections by dotted key, as DVC's `-S` spells them."""
    leaves: dict[str, Any] = {}
    for key, item in section.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            leaves |= flatten(item, f"{name}.")
        else:
            leaves[name] = item
    return leaves


def changes(old: Any, new: Any) -> list[str]:
    """A line for every key whose value differs, in the order of `new`; gone keys come last."""
    before, after = flatten(old), flatten(new)
    lines = []
    for key, value in after.items():
        if key not in before:
            lines.append(f"{key}: {_show(value)} (new)")
        elif before[key] != value:
            lines.append(f"{key}: {_show(before[key])} -> {_show(value)}")
    gone = {_highest_gone(key, after): None for key in before if key not in after}
    return lines + [f"{key}: (gone)" for key in gone]


def _highest_gone(key: str, leaves: dict[str, Any]) -> str:
    """The outermost section around `key` that no leaf is in, or the key itself."""
    parts = key.split(".")
    for depth in range(1, len(parts)):
        section = ".".join(parts[:depth])
        if not any(leaf == section or leaf.startswith(f"{section}.") for leaf in leaves):
            return section
    return key


def _show(value: Any) -> str:
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def put_in_place(name: str) -> list[str]:
    """Replace params.yaml by the preset `name` and return what changed, a line a key.

    The old file is kept (`brido.settings.load.replace_params`).

    Raises:
        BridoError: there is no such preset, or it does not pass the checks of params.yaml.
    """
    known = sorted(path.stem for path in PRESETS.glob("*.yaml"))
    if name not in known:
        raise BridoError(f"there is no preset {name!r}; make preset NAME={' | '.join(known)}")
    source = PRESETS / f"{name}.yaml"
    load_params(source)
    new, old = read_yaml(source), {}
    if PARAMS_FILE.is_file():
        old = read_yaml(PARAMS_FILE)
        if old == new:
            return []
    replace_params(source.read_text(encoding="utf-8"))
    return changes(old, new)


def main() -> None:
    """Put the preset that the command line names in place and print what changed."""
    names = sys.argv[1:]
    changed = put_in_place(names[0] if len(names) == 1 else "")
    for line in changed:
        print(line)
    if not changed:
        print(f"{PARAMS_FILE} already has the settings of {names[0]}")
        return
    print(f"\n{PARAMS_FILE} is now {PRESETS}/{names[0]}.yaml; the old one is in {PREVIOUS.parent}.")
    systems = ", ".join(check_params(read_yaml(PARAMS_FILE)).systems)
    print(f"`dvc repro` runs it: systems {systems}. `make paper` says what the whole paper takes.")


if __name__ == "__main__":
    run_command(main)
