"""What dvc.yaml reads of params.yaml is in every preset: DVC refuses a stage without its keys."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from brido.settings.presets import preset_names, read_preset

ROOT = Path(__file__).parents[2]


def names(node: Any) -> Iterator[str]:
    """Dotted keys that a part of dvc.yaml reads."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from (name for name in (value if key == "params" else ()) if "${" not in name)
            yield from names(value)
    elif isinstance(node, list):
        for value in node:
            yield from names(value)
    elif isinstance(node, str):
        found = re.findall(r"\$\{([\w.]+)\}", node)
        yield from (name for name in found if name != "key" and not name.startswith("item."))


@pytest.mark.parametrize("name", preset_names(ROOT / "presets"))
def test_presets_have_the_keys_of_dvc_yaml(name: str):
    wanted = {*names(YAML(typ="safe").load((ROOT / "dvc.yaml").read_text(encoding="utf-8")))}
    assert len(wanted) > 10
    for key in wanted:
        node: Any = read_preset(name, ROOT / "presets")
        for part in key.split("."):
            assert part in node, key
            node = node[part]
