"""Presets: presets/NAME.yaml holds what differs from presets/default.yaml, and why.

How a preset is laid over the default:

* a section is merged key by key;
* a section that names its form (`source`, `method`, `architecture`, `checker`) replaces the whole
  section, since other forms have other keys;
* a list, a value or an empty section (`{}`) replaces what was there.

The default is a file of its own, equal to the params.yaml that the project ships, so that a preset
means the same whatever a user has written into params.yaml.
"""

import io
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import LiteralScalarString

from brido.settings.load import check_params, read_yaml
from brido.settings.params import Params
from brido.settings.text import comments as texts
from brido.utils.errors import BridoError

PRESETS = Path("presets")
DEFAULT = "default"
# The keys that say which form a section has.
CHOOSERS = ("source", "method", "architecture", "checker")
# Where comments start, if the value leaves room.
_COLUMN = 32
# DVC keeps a small number as it finds it, and 0.00003 is easier to read than 3e-05.
_SMALL = re.compile(r"(?<=: )\d+(?:\.\d+)?e-\d+$")
_KEY = re.compile(r"( *)([\w.]+):(?: (.*))?$")


def preset_names(folder: Path = PRESETS) -> list[str]:
    """Return the names of all presets in `folder`."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read_preset(name: str, folder: Path = PRESETS) -> dict[str, Any]:
    """Return all settings of a preset, as params.yaml would hold them.

    Raises:
        BridoError: there is no such preset, or a file cannot be read.
    """
    path = _path(name, folder)
    default: dict[str, Any] = read_yaml(folder / f"{DEFAULT}.yaml")
    return default if name == DEFAULT else merge(default, read_yaml(path) or {})


def load_preset(name: str, folder: Path = PRESETS) -> Params:
    """Return the checked settings of a preset; BridoError lists every problem."""
    return check_params(read_preset(name, folder), str(_path(name, folder)))


def _path(name: str, folder: Path) -> Path:
    known = preset_names(folder)
    if name not in known:
        raise BridoError(f"there is no preset {name!r}; make preset NAME={' | '.join(known)}")
    return folder / f"{name}.yaml"


def merge(default: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `default` with `changes` laid over it, by the rules above."""
    merged = dict(default)
    for key, value in changes.items():
        old = merged.get(key)
        whole = isinstance(value, Mapping) and any(chooser in value for chooser in CHOOSERS)
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
    yaml.default_flow_style = False
    yaml.width = 10_000
    stream = io.StringIO()
    yaml.dump(_plain(settings), stream)
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    for key, line in _keys(stream.getvalue().splitlines()):
        line = _SMALL.sub(_written_out, line)
        if key and "." not in key and not line.startswith(" "):
            lines += [""] * (not lines[-1].startswith("- "))
        if comment := comments.get(key or ""):
            line = (
                f"{line:<{_COLUMN - 1}} # {comment}"
                if len(line) < _COLUMN
                else (f"{line}  # {comment}")
            )
        lines.append(line)
    return "\n".join(lines) + "\n"


def _written_out(number: re.Match[str]) -> str:
    return f"{Decimal(number[0]):f}"


def read_comments(text: str) -> dict[str, str]:
    """Return the comments at the ends of a params file's lines, by dotted key."""
    found = {}
    for key, line in _keys(text.splitlines()):
        _, mark, comment = line.partition(" # ")
        if key and mark:
            found[key] = comment.strip()
    return found


def _keys(lines: list[str]) -> Iterator[tuple[str | None, str]]:
    """Every line with the dotted key that it begins, None for a line without one."""
    open_keys: list[tuple[int, str]] = []
    text_deeper_than: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if text_deeper_than is not None:
            if not line.strip() or indent > text_deeper_than:
                yield None, line
                continue
            text_deeper_than = None
        match = _KEY.match(line)
        if not match:
            yield None, line
            continue
        while open_keys and open_keys[-1][0] >= indent:
            open_keys.pop()
        open_keys.append((indent, match[2]))
        if (match[3] or "").startswith("|"):
            text_deeper_than = indent
        yield ".".join(name for _, name in open_keys), line


def _plain(value: Any) -> Any:
    """A copy without comments; texts of several lines as YAML's blocks."""
    if isinstance(value, Mapping):
        return CommentedMap({str(key): _plain(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return CommentedSeq([_plain(item) for item in value])
    if isinstance(value, str) and "\n" in value:
        return LiteralScalarString(value)
    return value


def preset_text(name: str, folder: Path = PRESETS) -> str:
    """Return the params.yaml of a preset: its settings with the comments that belong to them.

    Raises:
        BridoError: there is no such preset, or its settings do not pass the checks.
    """
    load_preset(name, folder)
    own = _path(name, folder).read_text(encoding="utf-8")
    if name == DEFAULT:
        return own
    settings = read_preset(name, folder)
    return render(settings, texts(settings) | own_comments(name, folder), _heading(own))


def own_comments(name: str, folder: Path = PRESETS) -> dict[str, str]:
    """Return the comments in the file of a preset, by dotted key."""
    return read_comments(_path(name, folder).read_text(encoding="utf-8"))


def _heading(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" "))
    return "\n".join(lines)
