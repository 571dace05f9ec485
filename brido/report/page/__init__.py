"""The page: one self-contained HTML file that shows the numbers and the vote at work.

The file needs no network: style, scripts and data stand in it, and its Content-Security-Policy
allows exactly these (by their hashes) and nothing else. Data goes in as JSON and comes out through
`textContent` alone, so every text of a document stays text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from brido.report.page.data import Shown, document_json
from brido.report.sources import LEGEND
from brido.report.summary import ResultTable

# Documents beyond this many bytes of JSON are left out, so that the page stays under 5 MB.
DATA_BYTES = 4_300_000
_STYLES = ("page.css", "documents.css")
_SCRIPTS = ("vote.js", "heatmap.js", "document.js", "browser.js")


@dataclass(frozen=True)
class Page:
    """What the page shows.

    split: whose documents are shown. settings: (name, value) pairs; warnings, notes: full
    sentences; focus: the system that the filters compare with base. alpha: of section scoring;
    order: what its order of candidates is, in a few words. verdict: what the run answers, a line
    each; table: its rows of text; kept: the system that the run keeps. sources: the rows of the
    table of sources. marks: sentences on how mentions are found. prompt: what base was asked, the
    text before, between and behind the places of the document.
    """

    split: str
    settings: Sequence[tuple[str, str]]
    headline: ResultTable
    everything: ResultTable
    documents: Sequence[Shown]
    systems: Sequence[str]
    focus: str
    alpha: float
    order: str = "the run's vote"
    verdict: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    kept: str = ""
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    sources: Sequence[Sequence[str]] = ()
    marks: str = ""
    prompt: Sequence[str] | None = None
    signatures: Any = field(default_factory=dict)


def render_page(page: Page, data_bytes: int = DATA_BYTES) -> tuple[str, int]:
    """Return the page as HTML and the number of documents in it: as many as `data_bytes` allow."""
    documents = _fitting(page.documents, data_bytes)
    style = "\n".join(_asset(name) for name in _STYLES)
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    data = {
        "systems": list(page.systems),
        "focus": page.focus,
        "kept": page.kept,
        # JSON has no infinity.
        "alpha": "inf" if page.alpha == float("inf") else page.alpha,
        "order": page.order,
        "documents": documents,
        "prompt": page.prompt,
    }
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    html = environment.get_template("page.jinja").render(
        page=page,
        shown=len(documents),
        parts=_parts(page),
        sources_legend=" ".join(LEGEND),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=script_json(data),
        signatures=json.dumps(page.signatures, indent=1, ensure_ascii=False, sort_keys=True),
    )
    return html, len(documents)


def _parts(page: Page) -> list[tuple[str, str]]:
    """(address, title) of the sections that the page has."""
    sections = [
        ("documents", "Documents", True),
        ("results", "Results", True),
        ("sources", "Sources of the candidates", page.sources),
    ]
    return [(name, title) for name, title, there in sections if there]


def script_json(value: Any) -> str:
    """JSON that may stand inside a <script> element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _fitting(documents: Sequence[Shown], data_bytes: int) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    used = 0
    for document in documents:
        item = document_json(document)
        size = len(script_json(item).encode())
        # One document that is too large leaves room for those behind it.
        if used + size <= data_bytes:
            kept.append(item)
            used += size
    return kept or [document_json(document) for document in documents[:1]]


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
