"""MiniCheck of a file: `python -m brido.evaluation.minicheck documents.jsonl`."""

from pathlib import Path
from typing import Any

import click

from brido.evaluation.files import FILE_OPTIONS, read_documents, write_results
from brido.evaluation.minicheck import MiniCheckModel, numbers
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.work.folder import answers_file

_OPTIONS = (
    click.Option(["--model"], default=MiniCheckModel().model, help="A hub id or a folder."),
    click.Option(["--revision"], help="The hub's commit, tag or branch."),
    click.Option(
        ["--precision"],
        type=click.Choice(["auto", "float32", "bfloat16"]),
        default="auto",
        help="Of the model; auto: bfloat16 if the device has it.",
    ),
)


@click.command(
    "minicheck", params=[*FILE_OPTIONS, *_OPTIONS], context_settings={"show_default": True}
)
def command(
    documents: str, output: Path | None, store: Path | None, explain: bool, **loaded: Any
) -> None:
    """Say how probable it is that a document supports each sentence of its summary (MiniCheck).

    DOCUMENTS is a file of JSON lines, or - for stdin. Each line is an object with `document` and
    `summary` (text or a list of sentences), optionally `id`. The output has a line for each
    document; the means go to stderr. Answers are kept: a killed run goes on where it was.

    \b
    Example:
        python -m brido.evaluation.minicheck documents.jsonl --explain -o scores.jsonl
    """
    rows = read_documents(documents)
    from brido.checkers.minicheck import DOUBT, MiniCheck

    checker = MiniCheck.load(**loaded, store=store or answers_file("minicheck"), key="--model")
    sources, summaries = ([row[name] for row in rows] for name in ("document", "summary"))
    found = checker.sentences(sources, summaries, Progress)
    results = [
        {"id": row["id"], **numbers(sentences), "sentences": sentences}
        for row, sentences in zip(rows, found, strict=True)
    ]
    explained = (
        "\n".join(f"  {'?' if p < DOUBT else ' '} {p:.3f}  {text}" for text, p in sentences)
        for sentences in found
    )
    write_results(output, results, explained if explain else ())
    for name in ("mean", "worst"):
        known = [result[name] for result in results if result[name] is not None]
        say(f"{name} {sum(known) / len(known):.4f}" if known else f"{name}: nothing measured")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m brido.evaluation.minicheck"))
