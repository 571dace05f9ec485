"""The command `brido qafacteval`: QAFactEval of a file."""

import json
from pathlib import Path
from typing import get_args

import click

from brido.evaluation.files import read_documents, write_lines
from brido.evaluation.qafacteval.answers import Strategy
from brido.evaluation.question_view import as_text
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from brido.utils.extras import extra
from brido.utils.progress import Progress, say


@click.command(
    "qafacteval", short_help="QAFactEval of a file", context_settings={"show_default": True}
)
@click.argument("documents")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file instead of stdout.")
@click.option(
    "--models", default="hub", help="`hub`, or a folder with the archives or converted models."
)
@click.option("--spacy-model", default="en_core_web_sm", help="A spaCy pipeline: name or folder.")
@click.option("--answers", type=click.Choice(get_args(Strategy)), default="noun_chunks")
@click.option(
    "--plain-positions",
    is_flag=True,
    help="Decoder positions as trained and trimmed windows, not those of the released code.",
)
@click.option("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps.")
@click.option("--batch-tokens", type=click.IntRange(1), default=16384, help="In a forward pass.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The file that keeps every answer.",
    show_default="answers/qafacteval.sqlite in BRIDO_WORK or .brido/work",
)
@click.option("--explain", is_flag=True, help="Show each summary's questions on stderr.")
def command(
    documents: str,
    output: Path | None,
    models: str,
    spacy_model: str,
    answers: Strategy,
    plain_positions: bool,
    device: str,
    batch_tokens: int,
    store: Path | None,
    explain: bool,
) -> None:
    """Score the summaries of a file of JSON lines (DOCUMENTS, or - for stdin) with QAFactEval.

    Each line is an object with `document` and `summary` (text or a list of sentences), optionally
    `id`; the released script's form, {"document": {"text": ...}, "claim": ...}, is read as well.
    A result line per document is written, the means go to stderr. Answers are kept: a killed run
    goes on where it was.

    \b
    Example:
        brido qafacteval documents.jsonl --explain -o scores.jsonl
    """
    rows = read_documents(documents)
    with extra("qafacteval"):
        from brido.evaluation.qafacteval.metric import QAFactEval
        from brido.evaluation.qafacteval.records import SCORES
        from brido.work.folder import work_root
    metric = QAFactEval.load(
        models,
        spacy_model,
        answers,
        faithful=not plain_positions,
        device=device,
        batch_tokens=batch_tokens,
        store=store or work_root() / "answers" / "qafacteval.sqlite",
    )
    results = metric.score(
        [row["document"] for row in rows], [row["summary"] for row in rows], Progress
    )
    named = [{"id": row["id"], **result} for row, result in zip(rows, results, strict=True)]
    write_lines(output, named)
    for result in named if explain else ():
        say(f"\n{result['id']}\n{as_text(result['questions'])}")
    means = {name: sum(row[name] for row in results) / len(results) for name in SCORES}
    say("mean: " + ", ".join(f"{name} {value:.4f}" for name, value in means.items()))
    say("signature: " + json.dumps(metric.signature(results), ensure_ascii=False))


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m brido.evaluation.qafacteval"))
