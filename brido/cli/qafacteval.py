"""The command `brido qafacteval`: QAFactEval of a file."""

import json
from pathlib import Path
from typing import Any, get_args

import click

from brido.cli.shared import choice_option, output_option
from brido.evaluation.qafacteval.answers import Strategy
from brido.evaluation.qafacteval.records import SCORES, as_text
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError, quoted
from brido.utils.extras import extra
from brido.utils.files import input_lines
from brido.utils.json_lines import read_objects
from brido.utils.outputs import check_output, output_text
from brido.utils.progress import Progress, say


@click.command("qafacteval", context_settings={"show_default": True})
@click.argument("documents")
@output_option("The file to write, in place of stdout.")
@click.option("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps.")
@click.option(
    "--batch-tokens",
    type=click.IntRange(1),
    default=16384,
    help="Tokens of a forward pass, at most.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The file in which every answer is kept.",
    show_default="in BRIDO_WORK/answers or .brido/work/answers",
)
@click.option("--explain", is_flag=True, help="Show on stderr what each score rests on.")
@click.option(
    "--models", default="hub", help="`hub`, or a folder with the published archives or models."
)
@click.option(
    "--spacy-model",
    default="en_core_web_sm",
    help="A spaCy pipeline or its folder; it finds noun chunks.",
)
@choice_option(
    "--answers",
    get_args(Strategy),
    "What of a summary is asked for: noun chunks, as the released code does, or entities.",
)
@click.option(
    "--plain-positions",
    is_flag=True,
    help="Use decoder positions as trained, and trimmed windows. The released code does not.",
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
    check_output(output, [documents], "JSON lines")
    rows = read_documents(documents)
    with extra():
        from brido.evaluation.qafacteval.metric import QAFactEval
        from brido.work.folder import answers_file
    store = store or answers_file("qafacteval")
    metric = QAFactEval.load(**loaded, faithful=not plain_positions, store=store)
    sources, summaries = ([row[name] for row in rows] for name in ("document", "summary"))
    results = metric.score(sources, summaries, Progress)
    named = [{"id": row["id"], **result} for row, result in zip(rows, results, strict=True)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in named)
    with output_text(output, [documents]) as stream:
        stream.write(text)
    for row in named if explain else ():
        say(f"\n{row['id']}\n{as_text(row['questions'])}")
    means = {name: sum(row[name] for row in results) / len(results) for name in SCORES}
    say("mean: " + ", ".join(f"{name} {value:.4f}" for name, value in means.items()))
    say("signature: " + json.dumps(metric.signature(results), ensure_ascii=False))


def read_documents(path: Path | str) -> list[dict[str, Any]]:
    """Return the JSON lines of a file (`-` is stdin) as rows with id, document and summary.

    A document or summary that is a list of sentences is joined with spaces. A line without `id`
    gets its number. One array of objects is read as its items. Lines in the form of QAFactEval's
    released script (`document.text`, `claim`) are read as well.

    Raises:
        BridoError: the file cannot be read or is empty, or lines are wrong; all problems together.
    """
    rows, problems = [], []
    with input_lines(str(path)) as lines:
        for number, record, problem in read_objects(lines):
            try:
                rows.append(_row(record, number, problem))
            except BridoError as error:
                problems.append(f"line {number}: {error}")
    name = "stdin" if str(path) == "-" else path
    if problems:
        heading = f"{name} has lines that cannot be used:"
        raise BridoError.from_problems(heading, problems, limit=20)
    if not rows:
        raise BridoError(f"{name}: nothing was scored: the input has no line")
    return rows


def _row(raw: dict[str, Any], number: int, problem: str) -> dict[str, Any]:
    if problem:
        raise BridoError(problem)
    document, summary = raw.get("document"), raw.get("summary", raw.get("claim"))
    if isinstance(document, dict):
        document = document.get("text")
    name = raw.get("id")
    row = {"id": str(number) if name is None or name != name else name}
    for key, value in (("document", document), ("summary", summary)):
        sentences = [value] if isinstance(value, str) else value
        if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
            raise BridoError(f"`{key}` must be text or a list of sentences, not {quoted(value)}")
        row[key] = " ".join(sentences)
    if is_blank(row["document"]):
        raise BridoError("`document` is blank")
    return row
