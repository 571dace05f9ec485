"""A hook of MkDocs: every page and picture keeps its place in the repository.

Then a relative link leads to the same file on GitHub and on the site, and no text stands twice.
"""

import ast
import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
# Pages outside docs/; what they and the others link to comes with them.
PAGES = ("README.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md", "metrics/evidence/README.md")
_LINK = re.compile(r"\]\(([^)\s#:]+)[^)\s]*\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of docs/ by the same ones under their paths in the repository."""
    kept = [file for file in files if Path(file.src_dir or "").resolve() != ROOT / "docs"]
    pages = [*PAGES, *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md")))]
    paths = dict.fromkeys([*pages, "docs/api/site.css"])
    for page in pages:
        for link in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
            target = ((ROOT / page).parent / link).resolve()
            if target.is_file():
                paths[str(target.relative_to(ROOT))] = None
    return Files([*kept, *(_file(path, config) for path in paths)])


def _file(path: str, config: MkDocsConfig) -> File:
    return File(path, str(ROOT), config.site_dir, config.use_directory_urls)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lists that follow a line of text directly: GitHub begins a list there, Markdown does not."""
    lines: list[str] = []
    fenced = False
    for line in markdown.splitlines():
        fenced ^= line.lstrip().startswith("```")
        text = bool(lines and lines[-1].strip())
        if not fenced and _begins_list(line) and text and not _in_list(lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _begins_list(line: str) -> bool:
    return re.match(r"(\*|-|1\.) ", line) is not None


def _in_list(line: str) -> bool:
    return _begins_list(line) or re.match(r"\s+\S|\d+\. ", line) is not None


class Docstrings(griffe.Extension):
    """What brido does otherwise than the site's reader of docstrings expects."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """A doctest's heading: `Example:` here, `Examples:` there."""
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("Example:\n", "Examples:\n")

    def on_module(self, *, mod: griffe.Module, **_: Any) -> None:
        """Names that a room loads when they are asked for (`brido.utils.lazy`)."""
        public = mod.members.get("_PUBLIC")
        if public is not None and re.fullmatch(r"\{[^*]*\}", str(public.value)):
            for name, place in ast.literal_eval(str(public.value)).items():
                mod.set_member(name, griffe.Alias(name, f"{mod.path}.{place}.{name}"))
