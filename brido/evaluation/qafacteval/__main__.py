"""QAFactEval of a file: `brido qafacteval documents.jsonl`.

Each line is a JSON object with `document` and `summary` (text or a list of sentences), optionally
`id`; the released script's form, `{"document": {"text": ...}, "claim": ...}`, is read as well. A
result line per document goes to stdout, the means to stderr. Finished work is kept in --store.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, parsing, quoted, run_command
from brido.utils.extras import extra
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object
from brido.utils.progress import Progress, say

MAX_PROBLEMS = 20
PROGRAM = "python -m brido.evaluation.qafacteval"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", help="JSON lines with document and summary; - is stdin")
    parser.add_argument(
        "--models", default="hub", help="hub (default), or a folder with archives or models"
    )
    parser.add_argument("--spacy-model", default="en_core_web_sm", help="name or folder")
    parser.add_argument(
        "--answers", default="noun_chunks", choices=["noun_chunks", "ner", "max_np", "all"]
    )
    parser.add_argument("--scorer", default="lerc_quip", choices=["lerc_quip", "lerc"])
    parser.add_argument(
        "--plain-positions",
        action="store_true",
        help="decoder positions as trained and trimmed windows, not those of the released code",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--batch-tokens", type=int, default=16384, help="tokens in a forward pass")
    parser.add_argument("--store", type=Path,
                        help="keeps every answer (default: answers/qafacteval.sqlite in BRIDO_WORK "
                        "or .brido/work)")  # fmt: skip
    parser.add_argument(
        "--explain", action="store_true", help="show each summary's questions on stderr"
    )
    return parser


def read_documents(name: str) -> list[dict[str, Any]]:
    """The lines of a file as {id, document, summary}; BridoError lists the lines that are wrong."""
    with parsing(lambda reason: f"{name} cannot be read: {reason}"):
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
    rows, problems = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_record(parse_object(line), number))
        except BridoError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        heading = f"{name} has lines that cannot be used:"
        raise BridoError.from_problems(heading, problems, MAX_PROBLEMS)
    if not rows:
        raise BridoError(f"{name} is empty: give JSON lines with `document` and `summary`")
    return rows


def _record(raw: dict[str, Any], number: int) -> dict[str, Any]:
    if holds_half_pair(raw):
        raise BridoError(HALF_PAIR)
    document, summary = raw.get("document"), raw.get("summary", raw.get("claim"))
    if isinstance(document, dict):
        document = document.get("text")
    for key, value in (("document", document), ("summary", summary)):
        sentences = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not (isinstance(value, str) or sentences):
            raise BridoError(f"`{key}` must be text or a list of sentences, not {quoted(value)}")
    return {"id": raw.get("id", str(number)), "document": document, "summary": summary}


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> None:
    """Score the file and print a line per document."""
    options = parser(program).parse_args(arguments)
    rows = read_documents(options.documents)
    if options.batch_tokens < 1:
        raise BridoError(f"--batch-tokens must be at least 1, not {options.batch_tokens}")
    with extra("qafacteval"):
        _score(options, rows)


def _score(options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    from brido.evaluation.qafacteval import QAFactEval
    from brido.evaluation.qafacteval.records import SCORES
    from brido.evaluation.question_view import as_text
    from brido.work.folder import work_root

    metric = QAFactEval.load(
        options.models,
        options.spacy_model,
        options.answers,
        options.scorer,
        not options.plain_positions,
        options.device,
        options.batch_tokens,
        options.store or work_root() / "answers" / "qafacteval.sqlite",
    )
    documents, summaries = [row["document"] for row in rows], [row["summary"] for row in rows]
    results = metric.score(documents, summaries, Progress)
    for row, result in zip(rows, results, strict=True):
        print(json.dumps({"id": row["id"], **result}, ensure_ascii=False))
        if options.explain:
            say(f"\n{row['id']}\n{as_text(result['questions'])}")
    sys.stdout.flush()
    means = {name: sum(row[name] for row in results) / len(results) for name in SCORES}
    say("mean: " + ", ".join(f"{name} {value:.4f}" for name, value in means.items()))
    say("signature: " + json.dumps(metric.signature(results), ensure_ascii=False))


if __name__ == "__main__":
    run_command(main)
