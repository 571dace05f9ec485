"""params.yaml, read strictly: every problem in one message, misspelt keys with a suggestion."""

import difflib
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML, YAMLError

from brido.errors import BridoError
from brido.settings import Params, Section

PARAMS_FILE = Path("params.yaml")


def load_params(path: Path = PARAMS_FILE) -> Params:
    """The checked settings of `path`.

    YAML 1.2 rules hold, because DVC writes numbers such as `1e-05` that YAML 1.1 reads as text.

    Raises:
        BridoError: the file is missing or no YAML, or some keys or values are wrong (all named).
    """
    return check_params(read_yaml(path), str(path))


def user_path(path: str | Path) -> Path:
    """A path as params.yaml names it.

    A relative one counts from the project's folder, also where DVC runs a stage in a copy of that
    folder without what git does not track: a sweep names the real one in BRIDO_HOME.
    """
    return Path(os.environ.get("BRIDO_HOME", ""), Path(path).expanduser())


def read_yaml(path: Path) -> Any:
    """The content of a YAML 1.2 file; BridoError when it is missing or cannot be parsed."""
    try:
        return YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BridoError(
            f"{path} is missing: run in the project's folder, where params.yaml is"
        ) from None
    except (YAMLError, UnicodeDecodeError) as error:
        raise BridoError(f"{path} cannot be read as YAML: {error}") from None


def check_params(raw: Any, name: str = "params.yaml") -> Params:
    """The settings of a parsed params file; BridoError lists every problem of it."""
    if not isinstance(raw, dict):
        raise BridoError(f"{name} must hold sections such as `data:`, not {type(raw).__name__}")
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        problems = []
        for item in error.errors():
            problems += _describe(item)
        raise BridoError.from_problems(f"{name} has {_count(problems)}:", problems) from None


def _count(problems: list[str]) -> str:
    return "a problem" if len(problems) == 1 else f"{len(problems)} problems"


def _describe(item: Any) -> list[str]:
    """One of pydantic's errors as lines of ours: key, value, reason, way out."""
    location = [str(part) for part in item["loc"]]
    key = ".".join(location)
    if item["type"] == "extra_forbidden":
        return [f"{key}: unknown key{_suggestion(location)}"]
    if item["type"] == "missing":
        return [f"{key}: this key is missing"]
    if item["type"] == "value_error":
        reasons = str(item["ctx"]["error"]).split("\n")
        return [f"{key}: {reason}" if key else reason for reason in reasons]
    message = item["msg"].replace("Input should be ", "must be ")
    hint = ""
    if item["input"] == "None":
        hint = "; an empty value is written null"
    return [f"{key}: {message}, not {item['input']!r}{hint}"]


def _suggestion(location: list[str]) -> str:
    """`; did you mean ...` for a misspelt key, else the keys that the section has."""
    known = _keys_of(location[:-1])
    close = difflib.get_close_matches(location[-1], known, n=1)
    if close:
        return f"; did you mean {'.'.join([*location[:-1], close[0]])}?"
    return f"; known here: {', '.join(known)}" if known else ""


def _keys_of(location: list[str]) -> list[str]:
    model: Any = Params
    for part in location:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return []
        field = model.model_fields.get(part)
        if field is None:
            # Inside `checkpoints` the key is a name that the user chose.
            continue
        model = _section_of(field.annotation)
    return list(model.model_fields) if isinstance(model, type) else []


def _section_of(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if isinstance(argument, type) and issubclass(argument, Section):
            return argument
    return None
