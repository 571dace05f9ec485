"""The params.yaml of the tests' projects: the project's own with other values."""

import json
from pathlib import Path
from typing import Any

from brido.settings.load import read_yaml

ROOT = Path(__file__).parents[2]


def default() -> dict[str, Any]:
    """The project's own params.yaml."""
    params: dict[str, Any] = read_yaml(ROOT / "params.yaml")
    return params


def write(folder: Path, params: dict[str, Any]) -> None:
    """Write params.yaml; JSON is YAML too."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(json.dumps(params, indent=1), encoding="utf-8")
