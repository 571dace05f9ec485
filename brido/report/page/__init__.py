"""The page: one self-contained HTML file that shows the numbers and the vote at work.

The file needs no network: style, scripts and data stand in it, and its Content-Security-Policy
allows exactly these (by their hashes) and nothing else. Data goes in as JSON and comes out through
`textContent` alone, so every text of a document stays text.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

_STYLES = ("page.css", "documents.css")
_SCRIPTS = ("vote.js", "heatmap.js", "document.js", "browser.js")


def render_page(page: Mapping[str, Any], scripts: Mapping[str, Any]) -> str:
    """Return the page as HTML.

    page: what page.jinja shows, by its names there. scripts: what the scripts read.
    """
    style = "\n".join(_asset(name) for name in _STYLES)
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.jinja").render(
        page,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=script_json(scripts),
    )


def script_json(value: Any) -> str:
    """JSON that may stand inside a <script> element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
