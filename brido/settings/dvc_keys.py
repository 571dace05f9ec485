"""The keys of params.yaml that dvc.yaml names: without one of them DVC refuses its stages.

Stages fill in what params.yaml leaves out. DVC compares values in the file, so it needs them there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brido.settings.load import read_yaml
from brido.settings.params import Params
from brido.utils.errors import BridoError

DVC_YAML = Path("dvc.yaml")
# A place that DVC fills in: `${tuned}` is a section, `${item.system}` one of its keys.
_PLACE = re.compile(r"\$\{([\w.]+)\}")
# null is a value.
_NOTHING = object()


def check_dvc_keys(file: Path, params: Params, dvc_yaml: Path = DVC_YAML) -> None:
    """Check that `file`, a params.yaml, has all keys that dvc.yaml names; params: what it means.

    Raises:
        BridoError: keys are missing; it says which, and the values that they have without it.
    """
    raw, meant = read_yaml(file), params.model_dump(mode="json")
    names = dict.fromkeys(_names(read_yaml(dvc_yaml)))
    missing = {
        name: _value(meant, name)
        for name in names
        if _value(raw, name) is _NOTHING and _value(meant, name) is not _NOTHING
    }
    if missing:
        lines = [f"{name}: {json.dumps(value)}" for name, value in missing.items()]
        raise BridoError.from_problems(
            f"DVC reads these keys of {file}, and they are missing; add them, each in its section:",
            lines,
        )


def _names(node: Any) -> Iterator[str]:
    """Dotted keys that a part of dvc.yaml reads of params.yaml."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            for name in value if key == "params" else ():
                if "${" not in name:
                    yield name
            yield from _names(value)
    elif isinstance(node, list):
        for value in node:
            yield from _names(value)
    elif isinstance(node, str):
        yield from (
            name for name in _PLACE.findall(node) if not name.startswith("item.") and name != "key"
        )


def _value(node: Any, name: str) -> Any:
    """What stands at a dotted key, _NOTHING if it is missing."""
    for key in name.split("."):
        if not (isinstance(node, Mapping) and key in node):
            return _NOTHING
        node = node[key]
    return node
