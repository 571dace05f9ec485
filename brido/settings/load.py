"""params.yaml, read strictly: every problem in one message, misspelt keys with a suggestion.

`brido config [FILE]` checks a whole file before DVC starts: DVC removes a stage's old results
before the stage reads its settings.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from brido.models.settings import ReadingSettings
from brido.settings.params import Params
from brido.utils.atomic import atomic_file, write_text
from brido.utils.errors import BridoError, parsing
from brido.utils.rows import kind
from brido.utils.sections import problems_of

PARAMS_FILE = Path("params.yaml")
# Where a params.yaml that is replaced is kept: a folder that git ignores.
PREVIOUS = Path(".brido/params.previous.yaml")
# Keys of section reading belong there, wherever they stand.
_MOVED = {key: f"reading.default.{key}" for key in ReadingSettings.model_fields}


def load_params(path: Path = PARAMS_FILE) -> Params:
    """Return the checked settings of `path`.

    YAML 1.2 rules hold, because DVC writes numbers such as `1e-05` that YAML 1.1 reads as text.

    Raises:
        BridoError: the file is missing or not YAML, or some keys or values are wrong (all named).
    """
    return check_params(read_yaml(path), str(path))


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML 1.2 file; BridoError if it cannot be read."""
    with parsing(lambda reason: f"{path} cannot be read as YAML: {reason}"):
        try:
            # libyaml says less of what is wrong.
            return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BridoError(
                f"{path} is missing: run in the project's folder, where params.yaml is"
            ) from None
        except MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise BridoError(
                f"{path} cannot be read as YAML, line {line}: {error.problem}"
            ) from None


def check_params(raw: Any, name: str = "params.yaml") -> Params:
    """Return the settings of a parsed params file; BridoError lists every problem of it."""
    if not isinstance(raw, dict):
        given = "is empty; it" if raw is None else f"holds {kind(raw)}, but"
        raise BridoError(f"{name} {given} must hold sections such as `data:`")
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        problems = problems_of(error, Params, _MOVED)
        many = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise BridoError.from_problems(f"{name} has {many}:", problems) from None


def replace_params(text: str) -> Path | None:
    """Make `text` the params.yaml; the old file is kept: its new name, None where there was none.

    Nothing that was kept before is lost: a further file gets a number.
    """
    kept = None
    if PARAMS_FILE.is_file() and (old := PARAMS_FILE.read_bytes()) != text.encode():
        kept, number = PREVIOUS, 1
        while kept.is_file() and kept.read_bytes() != old:
            number += 1
            kept = PREVIOUS.with_name(f"params.previous-{number}.yaml")
        with atomic_file(kept) as temporary:
            temporary.write_bytes(old)
    write_text(PARAMS_FILE, text)
    return kept
