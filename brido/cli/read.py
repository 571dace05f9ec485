"""Summaries beside their documents, to be read: `brido read`."""

import random
from collections.abc import Iterator
from textwrap import fill, indent
from typing import Any

import click

from brido.cli.shared import DATA, chosen_system
from brido.utils.errors import BridoError, close_to, short

_WIDTH = 100


@click.command("read")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("-n", "--documents", type=click.IntRange(1), default=20, help="How many documents.")
@click.option("--seed", default=0, help="Decides which ones.")
def command(systems: tuple[str, ...], documents: int, seed: int) -> None:
    """Print test documents with their summaries by SYSTEMS (default: base and the chosen one).

    The documents are drawn by --seed, so the same ones come again. Names and numbers that a
    document does not have are listed below each summary, and why it is not whole.

    \b
    Example:
        brido read -n 5 base vote | less
    """
    from brido.evaluation.parts import read_inputs

    named = [*(systems or dict.fromkeys(["base", *filter(None, [chosen_system()])]))]
    known = [path.parent.name for path in sorted((DATA / "decoded").glob("*/test.parquet"))]
    if wrong := next((name for name in named if name not in known), ""):
        way_out = close_to(wrong, known) if known else ": `dvc repro` writes them"
        raise BridoError(f"{DATA / 'decoded'} has no test summaries by {short(wrong)}{way_out}")
    corpus = DATA / "corpus" / "test.parquet"
    texts = {name: read_inputs(corpus, DATA / "decoded" / name / "test.parquet") for name in named}
    first = texts[named[0]]
    drawn = random.Random(seed).sample(range(len(first.ids)), min(documents, len(first.ids)))
    for number, place in enumerate(sorted(drawn), 1):
        document, reference = first.documents[place], next(iter(first.references[place]), None)
        facts = None if first.facts is None else list(first.facts[place])
        click.secho(f"{number} of {len(drawn)}: {first.ids[place]}", bold=True)
        click.echo(_paragraph(document))
        if reference is not None:
            click.echo(f"\n  reference\n{_paragraph(reference)}")
        for name, inputs in texts.items():
            summary = inputs.summaries[place]
            click.echo(f"\n  {name}\n{_paragraph(summary)}")
            for line in _doubts(document, summary, reference, facts):
                click.secho(f"    {line}", fg="yellow")
        click.echo()


def _paragraph(text: str) -> str:
    """A text with its own lines, each wrapped."""
    lines = (fill(line, _WIDTH - 4) for line in text.splitlines() or [""])
    return indent("\n".join(lines), "    ")


def _doubts(
    document: str, summary: str, reference: str | None, facts: list[dict[str, Any]] | None
) -> Iterator[str]:
    """What the rules find in a summary: names and numbers, and why it is not whole."""
    from brido.checkers.mentions import mentions_of
    from brido.checkers.wholeness import why_not_whole

    found = mentions_of(document, summary, facts, case_sensitive=True)
    if missing := [one.text for one in found if not one.supported]:
        yield f"not in the document: {', '.join(missing)}"
    if why := why_not_whole(summary, reference, facts, document):
        yield f"not whole: {why}"
