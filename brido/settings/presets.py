"""Presets: presets/NAME.yaml holds what differs from the default, and why.

How a preset is laid over the default:

* a section is merged key by key;
* a section that names its form (`source`, `method`, `checker`) replaces the whole
  section, since other forms have other keys;
* a list, a value or an empty section (`{}`) replaces what was there, and so do `tuned` and
  `variants`: a preset names all systems of its run;
* a source of `generation` that is null is left out.

The default is what the fields of `Params` say, and the params.yaml that the project ships. So a
preset means the same after every edit of params.yaml.
"""

import io
import math
from collections.abc import Mapping
from decimal import Decimal
from itertools import takewhile
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML, RoundTripRepresenter
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import LiteralScalarString

from brido.settings.load import check_params, read_yaml
from brido.settings.params import Params
from brido.settings.text import comments, that_matter
from brido.utils.errors import BridoError, close_to, quoted

PRESETS = Path("presets")
DEFAULT = "default"
# The top of the default's params.yaml, as comments.
_HEADING = """\
The default: a run on the embedded world. Change a value here, or for one experiment:
  dvc exp run -S scoring.alpha=15
`brido options` lists all keys with their defaults; one that is not here takes a plus:
  dvc exp run -S '+choice.rouge_loss=2'
Symbols of the paper stand in brackets; a key without a value is null.
"""
# The keys that say which form a section has.
CHOOSERS = ("source", "method", "checker")
# Sections whose keys are the systems of a run.
NAMED = ("tuned", "variants")
# Where comments start, if the value leaves room.
_COLUMN = 32


def preset_names(folder: Path = PRESETS) -> list[str]:
    """Return the names of all presets: the default, and those in `folder`."""
    return sorted([DEFAULT, *(path.stem for path in folder.glob("*.yaml"))])


def read_preset(name: str, folder: Path = PRESETS) -> dict[str, Any]:
    """Return all settings of a preset, as params.yaml would hold them.

    Raises:
        BridoError: there is no such preset, or a file cannot be read.
    """
    default = that_matter(Params())
    if name == DEFAULT:
        return default
    path = _path(name, folder)
    changes = read_yaml(path) or {}
    if not isinstance(changes, Mapping):
        raise BridoError(
            f"{path} must hold keys of params.yaml, such as `data:`, not {quoted(changes)}"
        )
    merged = merge(default, changes)
    if isinstance(sources := merged["generation"], Mapping):
        merged["generation"] = {name: one for name, one in sources.items() if one is not None}
    return merged


def load_preset(name: str, folder: Path = PRESETS) -> Params:
    """Return the checked settings of a preset; BridoError lists every problem."""
    return check_params(read_preset(name, folder), str(_path(name, folder)))


def _path(name: str, folder: Path) -> Path:
    known = preset_names(folder)
    if name not in known:
        raise BridoError(f"there is no preset {quoted(name)}{close_to(name, known)}")
    return folder / f"{name}.yaml"


def merge(default: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `default` with `changes` laid over it, by the rules above."""
    merged = dict(default)
    for key, value in changes.items():
        old = merged.get(key)
        whole = key in NAMED or (
            isinstance(value, Mapping) and any(chooser in value for chooser in CHOOSERS)
        )
        if isinstance(value, Mapping) and isinstance(old, Mapping) and value and not whole:
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def flatten(section: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the leaves of nested sections by dotted key, as DVC's `-S` spells them."""
    leaves: dict[str, Any] = {}
    for key, item in section.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            leaves |= flatten(item, f"{name}.")
        else:
            leaves[name] = item
    return leaves


def render(settings: Mapping[str, Any], comments: Mapping[str, str], heading: str) -> str:
    """Return a params.yaml with these settings, in the form in which DVC writes it back.

    comments: by dotted key. heading: the comment at the top, without its `#`.
    """
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.width = 10_000
    stream = io.StringIO()
    yaml.dump(_commented(settings, comments), stream)
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    for line in stream.getvalue().splitlines():
        # A line before each section, but none behind a list, where DVC would take it away.
        if line[:1].isalpha() and not lines[-1].lstrip().startswith("- "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


class _Representer(RoundTripRepresenter):
    """Small numbers written out: 0.00003 is easier to read than 3e-05, and DVC leaves it."""

    def represent_float(self, data: float) -> Any:
        if not math.isfinite(data):
            return super().represent_float(data)
        return self.represent_scalar("tag:yaml.org,2002:float", f"{Decimal(repr(data)):f}")


_Representer.add_representer(float, _Representer.represent_float)


def _commented(value: Any, comments: Mapping[str, str], key: str = "") -> Any:
    """A copy of a value with the comments of its keys; texts of several lines as YAML's blocks."""
    if isinstance(value, Mapping):
        section = CommentedMap()
        for name, item in value.items():
            inner = f"{key}.{name}" if key else str(name)
            section[str(name)] = _commented(item, comments, inner)
            if inner in comments and not isinstance(section[str(name)], LiteralScalarString):
                section.yaml_add_eol_comment(comments[inner], str(name), column=_COLUMN)
        return section
    if isinstance(value, list | tuple):
        return CommentedSeq([_commented(item, {}) for item in value])
    if isinstance(value, str) and "\n" in value:
        return LiteralScalarString(value)
    return value


def heading(name: str, folder: Path = PRESETS) -> str:
    """Return the comment at the top of a preset, without its `#`."""
    if name == DEFAULT:
        return _HEADING
    lines = _path(name, folder).read_text(encoding="utf-8").splitlines()
    return "\n".join(
        line[1:].removeprefix(" ") for line in takewhile(lambda line: line.startswith("#"), lines)
    )


def preset_text(name: str, folder: Path = PRESETS) -> str:
    """Return the params.yaml of a preset: its settings with their comments.

    Raises:
        BridoError: there is no such preset, or its settings do not pass the checks.
    """
    load_preset(name, folder)
    settings = read_preset(name, folder)
    return render(settings, comments(settings), heading(name, folder))
