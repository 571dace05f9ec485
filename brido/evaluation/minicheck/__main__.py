"""MiniCheck of a file: `python -m brido.evaluation.minicheck documents.jsonl`.

Each line is a JSON object with `document` and `summary` (text or a list of sentences), optionally
`id`. A result line per document goes to stdout, the means to stderr. Finished work is kept.
"""

import argparse
import json
import sys
from pathlib import Path

from brido.evaluation.minicheck import MiniCheckModel, numbers
from brido.evaluation.qafacteval.__main__ import read_documents
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import Progress, say
from brido.work.shards import work_root


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        prog="python -m brido.evaluation.minicheck", description=__doc__
    )
    parser.add_argument("documents", help="JSON lines with document and summary; - is stdin")
    defaults = MiniCheckModel()
    parser.add_argument("--model", default=defaults.model, help="hub id or folder")
    parser.add_argument("--revision", help="hub commit, tag or branch")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--precision", default="auto", choices=["auto", "float32", "bfloat16"])
    parser.add_argument("--batch-tokens", type=int, default=16384, help="tokens in a forward pass")
    store = work_root() / "answers" / "minicheck.sqlite"
    parser.add_argument("--store", type=Path, default=store, help="keeps every answer")
    parser.add_argument(
        "--explain", action="store_true", help="show each summary's sentences on stderr"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Score the file and print a line per document."""
    options = parse_arguments(arguments)
    rows = read_documents(options.documents)
    if options.batch_tokens < 1:
        raise BridoError(f"--batch-tokens must be at least 1, not {options.batch_tokens}")
    from brido.checkers.minicheck import DOUBT, MiniCheck

    checker = MiniCheck.load(
        options.model,
        options.revision,
        options.device,
        options.precision,
        options.batch_tokens,
        options.store,
        "--model",
    )
    texts = [[_joined(row[key]) for row in rows] for key in ("document", "summary")]
    results = []
    for row, sentences in zip(rows, checker.sentences(*texts, progress=Progress), strict=True):
        results.append({"id": row["id"], **numbers(sentences)})
        print(json.dumps(results[-1] | {"sentences": sentences}, ensure_ascii=False))
        if options.explain:
            say(f"{row['id']}:")
            for sentence in sentences:
                mark = "?" if sentence.probability < DOUBT else " "
                say(f"  {mark} {sentence.probability:.3f}  {sentence.text}")
    sys.stdout.flush()
    for name in ("mean", "worst"):
        known = [result[name] for result in results if result[name] is not None]
        say(f"{name} {sum(known) / len(known):.4f}" if known else f"{name}: nothing measured")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


if __name__ == "__main__":
    run_command(main)
