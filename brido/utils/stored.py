"""JSON files of stages: how they are written and read."""

import json
import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, parsing, quoted

# More digits of a number would only make diffs noisy.
DECIMALS = 6


def json_number(value: float) -> float | None:
    """The number as these files hold it; None for NaN and infinity."""
    return round(value, DECIMALS) if math.isfinite(value) else None


def json_text(value: Any) -> str:
    """The value as the files of metrics/ hold it."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def record(text: str | bytes, keys: Mapping[str, type]) -> dict[str, Any]:
    """The JSON object in a text, with the keys of these types that it must have.

    Raises:
        ValueError: it is not JSON or no object, or a key is missing or of another type.
    """
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"it holds {quoted(found)} in place of an object")
    for key, wanted in keys.items():
        if not isinstance(found.get(key), wanted):
            raise ValueError(f"`{key}` is {quoted(found.get(key))}, not of type {wanted.__name__}")
    return found


def damaged(path: Path, stage: str) -> AbstractContextManager[None]:
    """A block that reads what a stage wrote to a path; any error in it says that it is damaged."""
    again = f"make it again with `dvc repro -sf {stage}`"
    return parsing(lambda reason: f"{path} is damaged ({reason}): {again}")


def read_json(path: Path, stage: str, **keys: type) -> dict[str, Any]:
    """The JSON object in a file of the project's own, with the keys that its reader needs.

    Raises:
        BridoError: it is missing or damaged; the message names the stage that makes it.
    """
    with damaged(path, stage):
        if not path.exists():
            raise BridoError(f"{path} is missing: make it with `dvc repro {stage}`")
        return record(path.read_text(encoding="utf-8"), keys)
