"""The command `brido qafacteval`: QAFactEval of a file."""

import json
from pathlib import Path
from typing import Any, get_args

import click

from brido.evaluation.files import FILE_OPTIONS, read_documents, write_results
from brido.evaluation.qafacteval.answers import Strategy
from brido.evaluation.question_view import as_text
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from brido.utils.extras import extra
from brido.utils.progress import Progress, say

_OPTIONS = (
    click.Option(
        ["--models"],
        default="hub",
        help="`hub`, or a folder with the published archives or models.",
    ),
    click.Option(
        ["--spacy-model"],
        default="en_core_web_sm",
        help="A spaCy pipeline or its folder; it finds noun chunks.",
    ),
    click.Option(
        ["--answers"],
        type=click.Choice(get_args(Strategy)),
        default="noun_chunks",
        help="What of a summary is asked for: noun chunks, as the released code does, or entities.",
    ),
    click.Option(
        ["--plain-positions"],
        is_flag=True,
        help="Use decoder positions as trained and trimmed windows; the released code does not.",
    ),
)


@click.command(
    "qafacteval", params=[*FILE_OPTIONS, *_OPTIONS], context_settings={"show_default": True}
)
def command(
    documents: str,
    output: Path | None,
    store: Path | None,
    explain: bool,
    plain_positions: bool,
    **loaded: Any,
) -> None:
    """Score the summaries of a file with QAFactEval.

    DOCUMENTS is a file of JSON lines, or - for stdin. Each line is an object with `document` and
    `summary` (text or a list of sentences), optionally `id`. The released script's form,
    {"document": {"text": ...}, "claim": ...}, is read as well. The output has a line for each
    document; the means go to stderr. Answers are kept: a killed run goes on where it was.

    \b
    Example:
        brido qafacteval documents.jsonl --explain -o scores.jsonl
    """
    rows = read_documents(documents)
    with extra("qafacteval"):
        from brido.evaluation.qafacteval.metric import QAFactEval
        from brido.evaluation.qafacteval.records import SCORES
        from brido.work.folder import answers_file
    store = store or answers_file("qafacteval")
    metric = QAFactEval.load(**loaded, faithful=not plain_positions, store=store)
    sources, summaries = ([row[name] for row in rows] for name in ("document", "summary"))
    results = metric.score(sources, summaries, Progress)
    named = [{"id": row["id"], **result} for row, result in zip(rows, results, strict=True)]
    explained = (as_text(result["questions"]) for result in results)
    write_results(output, named, explained if explain else ())
    means = {name: sum(row[name] for row in results) / len(results) for name in SCORES}
    say("mean: " + ", ".join(f"{name} {value:.4f}" for name, value in means.items()))
    say("signature: " + json.dumps(metric.signature(results), ensure_ascii=False))


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m brido.evaluation.qafacteval"))
