"""Docs, docstrings, comments and messages: sentences are short and say "not" openly."""

from pathlib import Path

import pytest

from benchmarks.prose import ROOTS, files, findings, sentences

ROOT = Path(__file__).parents[1]


def test_no_sentence_has_to_be_read_twice():
    found = [
        finding
        for path in files([str(ROOT / name) for name in ROOTS])
        for finding in findings(path)
    ]
    assert not found, "\n".join(f"{x.path}:{x.line}: {x.reason}: {x.sentence}" for x in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One (see al. 3). Two: three; four", ["One (see al. 3)", "Two", "three", "four"]),
        ("**The look.** It warns (at once.) Then", ["**The look", "It warns (at once", "Then"]),
        ("e.g. this, i.e. that", ["e.g. this, i.e. that"]),
        ("A [page](https://a.b/c.d) ends. So", ["A [page] ends", "So"]),
        ("First\n* one\n* two\n\nlast", ["First", "* one", "* two", "last"]),
    ],
)
def test_sentences(text: str, expected: list[str]):
    assert sentences(text) == expected


def test_what_is_found(tmp_path: Path):
    long = "word " * 31
    code = tmp_path / "code.py"
    code.write_text(
        f'"""First line.\n\n{long}, and more.\n\n    >>> {long}\n"""\n'
        "# A file is no table, and there is no other.\n"
        f'WORDS = "{long}"\n'
        f'QUERY = "SELECT a, {long}"\n'
        f'def f(x):\n    raise ValueError(f"{{x}} is known to nobody, it {long}")\n'
    )
    page = tmp_path / "page.md"
    page.write_text(
        f"# {long},\n\n```\n{long}, b\n```\n| {long}, |\n\nIt has `{long}`, and whoever.\n"
    )
    found = [
        (item.path.name, item.line, item.reason) for item in [*findings(code), *findings(page)]
    ]
    assert found == [
        ("code.py", 1, "33 words"),
        ("code.py", 11, "37 words"),
        ("code.py", 11, "'nobody'"),
        ("code.py", 7, "'is no'"),
        ("page.md", 8, "'whoever'"),
    ]
