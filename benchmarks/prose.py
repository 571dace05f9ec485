"""Sentences that a reader reads twice: long ones, and phrases that hide the subject or a negation.

    python -m benchmarks.prose [FILE ...]

It reads docstrings and comments, the texts of Python (messages and labels), and Markdown, and lists
what it finds with file and line. Code blocks, tables and doctest lines are left out.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LONGEST = 30
PHRASES = re.compile(
    # Plain are "there is no file" and "no longer", but not "a file" with "no table" behind "is".
    r"\b((?<![Tt]here )(?:is|are|was|were) no(?! longer| more| less)"
    r"|nobody|whoever|anybody|everybody|somebody|whatever|Nothing; \w+Error where)\b"
)
ROOTS = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "params.yaml", "dvc.yaml"),
    *("brido", "stages", "experiments", "benchmarks", "examples"),
)
# A full stop, a question mark or a colon, with what closes it; not the stops of abbreviations.
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bEq)(?<!\bal)[.?!:;][*)\"'”’]*(?=\s|$)")
# Where a link leads, and code: neither is read as words.
_LINK, _CODE = re.compile(r"\]\([^)]*\)"), re.compile(r"`[^`]+`")
# Constants of Python that are patterns, queries or programs.
_QUERY = re.compile(r"\(\?|\\[bsw]|^\s*(CREATE|SELECT|INSERT|UPDATE|DELETE|PRAGMA|import)\b")
_SKIPPED = re.compile(r"^\s*(>>>|\.\.\. |\||```|    \S|#!|https?:)")
# Sections of a docstring hold lists of errors and examples, not sentences.
_SECTION = re.compile(r"^\s*(Raises|Example|Examples|Attributes):\s*$")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """A sentence of a file that should be shorter or plainer."""

    path: Path
    line: int
    reason: str
    sentence: str


def findings(path: Path) -> Iterator[Finding]:
    """Yield what is found in a file."""
    texts = _python(path) if path.suffix == ".py" else _plain(path)
    for line, text in texts:
        for sentence in sentences(text):
            words = len(re.findall(r"[^\W\d_][\w'-]*", _CODE.sub("CODE", sentence)))
            if words > LONGEST and not _is_a_list_of_words(sentence):
                yield Finding(path, line, f"{words} words", sentence)
            for match in PHRASES.finditer(sentence):
                yield Finding(path, line, f"'{match[0]}'", sentence)


def sentences(text: str) -> list[str]:
    """Return a text's sentences, white space joined; a list's items and paragraphs end one too."""
    found = []
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[*\-] |\d+\. )", text):
        joined = _LINK.sub("]", " ".join(paragraph.split()))
        found += [part.strip() for part in _END.split(joined) if part.strip()]
    return found


def _is_a_list_of_words(sentence: str) -> bool:
    return not re.search(r"[.,:;?!(](\s|$)| [(\"`]", sentence)


def _plain(path: Path) -> Iterator[tuple[int, str]]:
    """Yield paragraphs of Markdown, or comments of YAML."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix != ".md":
        for number, line in enumerate(lines, 1):
            if "#" in line:
                yield number, line.partition("#")[2]
        return
    fenced, start, paragraph = False, 0, []
    for number, line in enumerate([*lines, ""], 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced or not line.strip() or _SKIPPED.match(line) or line.startswith("#"):
            if paragraph:
                yield start, "\n".join(paragraph)
            paragraph = []
            continue
        start = start if paragraph else number
        paragraph.append(line)


def _python(path: Path) -> Iterator[tuple[int, str]]:
    source = path.read_text(encoding="utf-8")
    documented = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
            documented.add(id(node.body[0].value))
            yield node.body[0].lineno, _prose(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                documented.add(id(part))
            words = "".join(
                part.value if isinstance(part, ast.Constant) else "VALUE" for part in node.values
            )
            if not _QUERY.search(words):
                yield node.lineno, words
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documented and not _QUERY.search(node.value):
            yield node.lineno, node.value
    yield from _comments(source)


def _prose(docstring: str) -> str:
    """Return a docstring without its code, its lists of errors and its examples."""
    kept, inside = [], False
    # What a command prints as it stands, behind a backspace, is a table.
    text = re.sub(r"(?m)^\x08\n(.+\n?)*", "", docstring)
    for line in text.splitlines():
        inside = bool(_SECTION.match(line)) or (inside and line.startswith(" "))
        kept.append("" if inside or _SKIPPED.match(line) else line)
    return "\n".join(kept)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    start, lines, last = 0, [], -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row = token.start[0]
            if row != last + 1 and lines:
                yield start, "\n".join(lines)
                lines = []
            start = start if lines else row
            lines.append(token.string.lstrip("#: "))
            last = row
    if lines:
        yield start, "\n".join(lines)


def files(roots: list[str]) -> Iterator[Path]:
    """Yield the files under `roots`, in order."""
    for root in map(Path, roots):
        if root.is_dir():
            yield from sorted(path for path in root.rglob("*") if path.suffix in {".py", ".md"})
        else:
            yield root


def main() -> None:
    """Print what is found, and how much."""
    count = 0
    for path in files(sys.argv[1:] or list(ROOTS)):
        for finding in findings(path):
            count += 1
            print(f"{finding.path}:{finding.line}: {finding.reason}: {finding.sentence}")
    print(f"{count} sentences to read again")


if __name__ == "__main__":
    main()
