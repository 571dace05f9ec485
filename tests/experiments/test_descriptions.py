"""Packages' descriptions as documents: what is read of a list, and what is left out."""

import pytest

from brido.utils.errors import BridoError
from experiments.descriptions import read

WORDS = " ".join(f"word{number}" for number in range(45))
SECOND = "It is small and has a second paragraph."


def stanza(name: str, summary: str, first: str, *more: str) -> str:
    lines = "\n .\n ".join([first, *more])
    return f"Package: {name}\nDescription-md5: 0\nDescription-en: {summary}\n {lines}\n\n"


def test_a_package_is_a_document_and_its_line():
    text = stanza("one", "shows one thing: and another", f"{WORDS}\n and more", SECOND)
    expected = {
        "id": "one",
        "document": f"{WORDS} and more\n{SECOND}",
        "summary": "shows one thing: and another",
    }
    assert list(read(text.splitlines(keepends=True))) == [expected]


def test_the_first_package_of_a_source_stands_for_all():
    text = "".join(
        [
            stanza("one", "shows one thing to you", WORDS, "The program."),
            stanza("one-data", "shows one thing to you (data)", WORDS, "The data."),
            stanza("two", "Shows one thing to you", f"Another {WORDS}"),
        ]
    )
    assert [row["id"] for row in read(text.splitlines(keepends=True))] == ["one"]


def test_packages_without_enough_to_summarize_are_left_out():
    text = "".join(
        [
            stanza("short", "shows one thing to you", "Too few words."),
            stanza("line", "one thing", WORDS),
            stanza("old", "shows old things, transitional package", f"Old {WORDS}"),
            stanza("meta", "shows all things of it", f"This metapackage brings {WORDS}"),
        ]
    )
    assert list(read(text.splitlines(keepends=True))) == []


def test_another_file_is_refused():
    with pytest.raises(BridoError, match="not Translation-en"):
        list(read(["Package: one\n", "Version: 1\n"]))
