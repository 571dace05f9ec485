"""Real text from a package list: `python -m experiments.descriptions FOLDER < Translation-en`.

A document is the description of a Debian package, its summary the one line above it that the
package's maintainer wrote. Translation-en is a file of the component main of a Debian release.
Packages made of the same source share a first paragraph: one of them stands for all.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import click

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command

PARTS = {"train": 2000, "validation": 300, "test": 300}
DOCUMENT_WORDS, SUMMARY_WORDS = range(40, 201), range(5, 21)
# Packages without a content of their own.
EMPTY = re.compile(r"\b(transitional|dummy|meta-?package|debug(ging)? symbols)\b", re.IGNORECASE)


def read(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield id, document and summary of every package that has enough to summarize.

    Raises:
        BridoError: a paragraph names no package.
    """
    seen: set[str] = set()
    for blank, stanza in groupby(lines, key=lambda line: not line.strip()):
        if blank:
            continue
        head, description = _split(stanza)
        if not {"Package", "Description-en"} <= head.keys():
            raise BridoError("stdin is not Translation-en: a paragraph names no package")
        summary = head["Description-en"]
        paragraphs = _paragraphs(description)
        document = "\n".join(paragraphs)
        known = {summary.lower(), *paragraphs[:1]} & seen
        seen |= {summary.lower(), *paragraphs[:1]}
        enough = len(document.split()) in DOCUMENT_WORDS and len(summary.split()) in SUMMARY_WORDS
        if enough and not known and not EMPTY.search(f"{summary} {document}"):
            yield {"id": head["Package"], "document": document, "summary": summary}


def _split(stanza: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    head, description = {}, []
    for line in stanza:
        if line.startswith(" "):
            description.append(line.strip())
        else:
            name, _, value = line.partition(":")
            head[name] = value.strip()
    return head, description


def _paragraphs(lines: list[str]) -> list[str]:
    """Join a description's lines; a paragraph ends with a line of one full stop."""
    groups = groupby(lines, key=lambda line: line == ".")
    return [" ".join(group) for stop, group in groups if not stop]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Write train.jsonl, validation.jsonl and test.jsonl, in an order that hashes of names give."""
    rows = sorted(read(sys.stdin), key=lambda row: sha256(row["id"].encode()).digest())
    folder.mkdir(parents=True, exist_ok=True)
    start = 0
    for part, size in PARTS.items():
        texts = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows[start : start + size]]
        write_text(folder / f"{part}.jsonl", "".join(texts))
        start += size


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.descriptions"))
