"""JSON files of stages: how they are written and read."""

import json
import math
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, first_line

# More digits of a number would only make diffs noisy.
DECIMALS = 6


def json_number(value: float) -> float | None:
    """The number as these files hold it; None for NaN and infinity."""
    return round(value, DECIMALS) if math.isfinite(value) else None


def json_text(value: Any) -> str:
    """The value as the files of metrics/ hold it."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path, stage: str) -> Any:
    """The content of a JSON file.

    Raises:
        BridoError: it is missing or damaged; the message names the stage that makes it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BridoError(f"{path} is missing: make it with `dvc repro {stage}`") from None
    except (OSError, ValueError) as error:
        raise BridoError(
            f"{path} is damaged ({first_line(error)}): make it again with `dvc repro -sf {stage}`"
        ) from None
