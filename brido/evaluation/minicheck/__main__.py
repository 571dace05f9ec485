"""MiniCheck of a file: `python -m brido.evaluation.minicheck documents.jsonl`."""

from pathlib import Path

import click

from brido.evaluation.files import read_documents, write_lines
from brido.evaluation.minicheck import MiniCheckModel, numbers
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.work.folder import work_root


@click.command("minicheck", context_settings={"show_default": True})
@click.argument("documents")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file instead of stdout.")
@click.option("--model", default=MiniCheckModel().model, help="Hub id or folder.")
@click.option("--revision", help="Hub commit, tag or branch.")
@click.option("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps.")
@click.option("--precision", type=click.Choice(["auto", "float32", "bfloat16"]), default="auto")
@click.option("--batch-tokens", type=click.IntRange(1), default=16384, help="In a forward pass.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The file that keeps every answer.",
    show_default="answers/minicheck.sqlite in BRIDO_WORK or .brido/work",
)
@click.option("--explain", is_flag=True, help="Show each summary's sentences on stderr.")
def command(
    documents: str,
    output: Path | None,
    model: str,
    revision: str | None,
    device: str,
    precision: str,
    batch_tokens: int,
    store: Path | None,
    explain: bool,
) -> None:
    """Say how probable it is that a document supports each sentence of its summary (MiniCheck).

    DOCUMENTS is a file of JSON lines, or - for stdin. Each line is an object with `document` and
    `summary` (text or a list of sentences), optionally `id`. A result line per document is written,
    the means go to stderr. Answers are kept: a killed run goes on where it was.

    \b
    Example:
        python -m brido.evaluation.minicheck documents.jsonl --explain -o scores.jsonl
    """
    rows = read_documents(documents)
    from brido.checkers.minicheck import DOUBT, MiniCheck

    store = store or work_root() / "answers" / "minicheck.sqlite"
    checker = MiniCheck.load(model, revision, device, precision, batch_tokens, store, "--model")
    found = checker.sentences(
        [_joined(row["document"]) for row in rows],
        [_joined(row["summary"]) for row in rows],
        progress=Progress,
    )
    results = [
        {"id": row["id"], **numbers(sentences), "sentences": sentences}
        for row, sentences in zip(rows, found, strict=True)
    ]
    write_lines(output, results)
    for row, sentences in zip(rows, found, strict=True) if explain else ():
        say(f"{row['id']}:")
        for sentence in sentences:
            mark = "?" if sentence.probability < DOUBT else " "
            say(f"  {mark} {sentence.probability:.3f}  {sentence.text}")
    for name in ("mean", "worst"):
        known = [result[name] for result in results if result[name] is not None]
        say(f"{name} {sum(known) / len(known):.4f}" if known else f"{name}: nothing measured")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m brido.evaluation.minicheck"))
