"""params.yaml, read strictly: every problem in one message, misspelt keys with a suggestion.

`brido config [FILE]` checks a whole file before DVC starts: DVC removes a stage's old results
before the stage reads its settings.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import ValidationError
from ruamel.yaml import YAML, YAMLError

from brido.models.settings import ReadingSettings
from brido.settings.params import Params
from brido.settings.yaml_errors import yaml_problem
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, close_to, parsing, quoted, short
from brido.utils.json_lines import kind
from brido.utils.sections import Section, Variant, forms

PARAMS_FILE = Path("params.yaml")
# Where a params.yaml that is replaced is kept: a folder that git ignores.
PREVIOUS = Path(".brido/params.previous.yaml")
# Sections whose stages read documents; how they do stands in `reading` once.
_READERS = ("generation", "training", "decoding", "reading")


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
        text = ""
        try:
            text = path.read_text(encoding="utf-8")
            # `yaml_problem` knows the words of this parser, and libyaml says less.
            return YAML(typ="safe", pure=True).load(text)
        except FileNotFoundError:
            raise BridoError(
                f"{path} is missing: run in the project's folder, where params.yaml is"
            ) from None
        except YAMLError as error:
            raise BridoError(
                f"{path} cannot be read as YAML. {yaml_problem(error, text)}"
            ) from None


def check_params(raw: Any, name: str = "params.yaml") -> Params:
    """Return the settings of a parsed params file; BridoError lists every problem of it."""
    if not isinstance(raw, dict):
        given = "is empty; it" if raw is None else f"holds {kind(raw)}, but"
        raise BridoError(f"{name} {given} must hold sections such as `data:`")
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        problems = []
        for item in error.errors():
            problems += _describe(item)
        many = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise BridoError.from_problems(f"{name} has {many}:", problems) from None


class _Place(NamedTuple):
    """Where a problem is: its keys, the section around the last one, what may stand there."""

    keys: list[str]
    section: type[Section]
    annotation: Any


def _place(location: Sequence[str | int]) -> _Place:
    """pydantic's location as keys: without the forms of sections and types that it counts in."""
    keys: list[str] = []
    section: type[Section] = Params
    annotation: Any = Params
    for part in location:
        sections = forms(annotation)
        if part == "[key]":  # pydantic's word for a key that is itself no text
            break
        if len(sections) > 1:
            annotation = next(form for form in sections if form.choice() == part)
            continue
        if sections:
            section = sections[0]
            field = section.model_fields.get(str(part))
            annotation = field.annotation if field else None
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        elif not isinstance(part, int):
            continue
        keys.append(str(part))
    return _Place(keys, section, annotation)


def _describe(item: Any) -> list[str]:
    """One of pydantic's errors as lines of ours: key, value, reason, way out."""
    place, kind, value = _place(item["loc"]), item["type"], item["input"]
    key = ".".join(map(short, place.keys))
    if kind == "extra_forbidden":
        return [f"{key}: {_unknown(place)}"]
    if kind == "missing":
        return [f"{key}: this key is missing"]
    if kind == "value_error":
        reasons = str(item["ctx"]["error"]).split("\n")
        return [f"{key}: {reason}" if key else reason for reason in reasons]
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return [f"{key}: must be a section with keys, not {_shown(value)}"]
    if kind == "union_tag_invalid":
        variants = forms(place.annotation)
        names = [repr(form.choice()) for form in variants]
        key, value = f"{key}.{variants[0].chooser}", value[variants[0].chooser]
        message = f"must be {', '.join(names[:-1])} or {names[-1]}"
    else:
        message = item["msg"].replace("Input should be ", "must be ")
        message = message.replace("True, False", "true, false")
    hint = "; an empty value is written null" if value == "None" else ""
    return [f"{key}: {message}, not {_shown(value)}{hint}"]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else quoted(value)


def _unknown(place: _Place) -> str:
    """What is said of a key that its section, in the form that was chosen, does not have."""
    *outer, name = place.keys
    if name in ReadingSettings.model_fields and outer and outer[0] in _READERS:
        return f"belongs to reading.default.{name}: move it there"
    section, where = place.section, ""
    if issubclass(section, Variant):
        where = f" where {'.'.join([*outer, section.chooser])} is {section.choice()}"
    hint = close_to(name, section.model_fields, "".join(f"{key}." for key in outer))
    return f"unknown key{where}{hint}"


def replace_params(text: str) -> Path | None:
    """Make `text` the params.yaml; the old file is kept: its new name, None where there was none.

    Nothing that was kept before is lost: a further file gets a number.
    """
    kept = None
    if PARAMS_FILE.is_file() and (old := PARAMS_FILE.read_text(encoding="utf-8")) != text:
        kept, number = PREVIOUS, 1
        while kept.is_file() and kept.read_text(encoding="utf-8") != old:
            number += 1
            kept = PREVIOUS.with_name(f"params.previous-{number}.yaml")
        write_text(kept, old)
    write_text(PARAMS_FILE, text)
    return kept
