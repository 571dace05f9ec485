"""What a run leaves for others: `brido export preferences|ranking|model`.

The votes as training data for other trainers:

preferences: prompt, chosen, rejected (and both scores), TRL's explicit-prompt preference format,
for DPO and its kin: per document the best against the worst candidate, or with `--pairs all` every
pair whose scores differ by more than `--min-gap`. Empty candidates stand in no pair.
ranking: every such pair of a document's whole ranking with its `margin` (the difference of scores,
which TRL's RewardTrainer subtracts in its loss) and both ranks; `id` groups a document's pairs.

The votes are those of the pipeline's tables, or with `--scores FILE` what `brido score` wrote (-
for stdin), where each line also needs its `document`; without --output the pairs then go to stdout.
`--chat` writes either kind in TRL's conversational format for a chat model. Of the pipeline's votes
it is asked as params.yaml says (`reading` of base), with the document already cut; else the prompt
is one message.

model: the tuned model with its card as README.md, a folder that can be pushed to a hub as it is:
`brido export model --output my/model`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brido.cli.preference_files import Kind, write_pairs
from brido.utils.errors import BridoError, parsing, quoted, run_command
from brido.utils.extras import extra
from brido.utils.progress import Progress, say
from brido.vote.preferences import Voted, pairs, read_scored, read_votes

PROGRAM = "python -m brido export"
# The prompt ends without a space and each answer starts with one, as tokenizers of decoder-only
# models want it: the space belongs to the token of the first word.
PROMPT = "{document}\n\nTL;DR:"
_TEXTS = ("id", "prompt", "chosen", "rejected", "source_chosen", "source_rejected")
_PAIR: dict[str, Kind] = dict.fromkeys(_TEXTS, "text")
PREFERENCES: dict[str, Kind] = {**_PAIR, "score_chosen": "number", "score_rejected": "number"}
RANKING: dict[str, Kind] = {
    **_PAIR, "margin": "number", "rank_chosen": "rank", "rank_rejected": "rank"
}  # fmt: skip
Messages = list[dict[str, str]]
CARD = Path("report/model_card.md")


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("preferences", "ranking", "model"), help="what")
    parser.add_argument(
        "--scores", metavar="FILE", help="what `brido score` wrote, instead of the pipeline's votes"
    )
    parser.add_argument("--output", type=Path, nargs="+", metavar="FILE",
                        help="files that end in .parquet or .jsonl; without it, both kinds as "
                        "DATA/export/KIND-SPLIT, or stdout with --scores; of model one new "
                        "folder")  # fmt: skip
    parser.add_argument("--split", choices=("train", "validation"), default="train",
                        help="of the pipeline's votes")  # fmt: skip
    parser.add_argument("--pairs", choices=("best-worst", "all"), default="best-worst",
                        help="preferences only")  # fmt: skip
    parser.add_argument("--min-gap", type=float, default=0.0,
                        help="pairs must differ by more than this score")  # fmt: skip
    parser.add_argument("--prompt", default=PROMPT,
                        help="template with {document}; \\n is a new line (default: "
                        "{document}\\n\\nTL;DR:); answers begin with a space")  # fmt: skip
    parser.add_argument("--chat", action="store_true", help="messages instead of texts")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the tables")
    return parser


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Write the pairs that the command line asks for."""
    options = parser(program).parse_args(arguments)
    if options.kind == "model":
        return _export_model(options)
    template = options.prompt.replace("\\n", "\n")
    outputs = options.output or []
    if not outputs and options.scores is None:
        stem = options.data / "export" / f"{options.kind}-{options.split}"
        outputs = [stem.with_suffix(".parquet"), stem.with_suffix(".jsonl")]
    _check(template, options.min_gap, outputs)
    with extra("pipeline"), ExitStack() as stack:
        votes, count = _votes(options, stack)
        form = Form(
            options.kind,
            options.kind == "ranking" or options.pairs == "all",
            options.min_gap,
            template,
            _conversation(options, template) if options.chat else None,
        )
        progress = stack.enter_context(Progress(f"export {options.kind}", count))
        told = write_pairs(map(form.rows, votes), form.columns, outputs, progress.advance)
    _say(told, outputs, form.left_out)


def _export_model(options: argparse.Namespace) -> None:
    outputs = options.output or [options.data / "export" / "model"]
    if len(outputs) > 1:
        names = ", ".join(map(str, outputs))
        raise BridoError(f"--output must be one new folder, not {names}")
    with extra("pipeline"):
        from brido.report.card import export_model

        export_model(options.data / "checkpoints" / "tuned", CARD, outputs[0])


def _say(told: tuple[int, int, int], outputs: Sequence[Path], left_out: Counter[str]) -> None:
    written, with_rows, without = told
    names = ", ".join(map(str, outputs)) or "stdout"
    say(f"export: {written:,} pairs of {with_rows:,} documents to {names}")
    if without:
        say(f"export: {without:,} documents gave no pair: too few candidates, or scores or texts "
            "that are too equal")  # fmt: skip
    for what, times in left_out.items():
        say(f"export: left out: {times:,} {what}")


def _votes(options: argparse.Namespace, stack: ExitStack) -> tuple[Iterator[Voted], int | None]:
    """The votes that are asked for, and how many documents there are, where that is known."""
    if options.scores == "-":
        return read_scored(sys.stdin.buffer, "stdin"), None
    if options.scores is not None:
        with parsing(lambda reason: f"{options.scores}: {reason}; `-` reads from stdin"):
            path = Path(options.scores)
            lines = stack.enter_context(path.open("rb"))
        return read_scored(lines, options.scores), None
    from brido.tables import count_rows
    from brido.vote.select import is_shuffled

    count = count_rows(options.data / "pool" / f"{options.split}.parquet", "pool")
    if is_shuffled(options.data / "scores" / f"{options.split}.parquet"):
        say("export: warning: these scores were dealt out at random (scoring.shuffle: true)")
    return read_votes(options.data, options.split), count


def _check(template: str, gap: float, outputs: Sequence[Path]) -> None:
    problems = []
    if "{document}" not in template:
        problems.append(f"--prompt must contain {{document}}, not {quoted(template)}")
    if not gap >= 0:
        problems.append(f"--min-gap must be at least 0, not {gap}")
    problems += [
        f"--output {path} must end in .parquet or .jsonl"
        for path in outputs
        if path.suffix not in {".parquet", ".jsonl"}
    ]
    if problems:
        raise BridoError.from_problems("the export cannot start:", problems)


def _conversation(options: argparse.Namespace, template: str) -> Callable[[str], Messages]:
    """What makes the messages that ask about a document."""
    if options.scores is not None:
        return lambda document: [{"role": "user", "content": _filled(template, document)}]
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt, messages
    from brido.settings.load import load_params

    reading = load_params().reading_of("base")
    tokenizer = load_tokenizer(options.data / "checkpoints" / "base")
    if tokenizer.chat_template is None or reading.template is None:
        raise BridoError("--chat: the base model has no chat template, so its rows are texts")
    prompt = Prompt.of(tokenizer, reading)
    limit = reading.max_source_tokens
    return lambda document: messages(reading, prompt.cut(document, limit))


def _filled(template: str, document: str) -> str:
    # str.format would trip over braces in the template or the document.
    return template.replace("{document}", document)


@dataclass
class Form:
    """Which pairs are written, and how a pair becomes a row.

    conversation: what makes a document's messages; None writes texts. left_out counts what stands
    in no pair.
    """

    kind: str
    everything: bool
    min_gap: float
    template: str
    conversation: Callable[[str], Messages] | None = None
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def columns(self) -> dict[str, Kind]:
        """The columns of a row."""
        columns = RANKING if self.kind == "ranking" else PREFERENCES
        if self.conversation is None:
            return columns
        return columns | dict.fromkeys(("prompt", "chosen", "rejected"), "messages")

    def rows(self, item: Voted) -> list[dict[str, Any]]:
        """The rows of a document."""
        row = ranking_row if self.kind == "ranking" else preference_row
        prompt = _filled(self.template, item.document)
        ranks = pairs(item, self.everything, self.min_gap, self.left_out)
        rows = [row(item, prompt, *pair) for pair in ranks]
        if self.conversation and rows:
            messages = self.conversation(item.document)
            for found in rows:
                found["prompt"] = messages
                for key in ("chosen", "rejected"):
                    found[key] = [{"role": "assistant", "content": found[key].strip()}]
        return rows


def preference_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of PREFERENCES."""
    first, second = item.order[better], item.order[worse]
    return {
        "id": item.id,
        "prompt": prompt,
        "chosen": f" {item.candidates[first]}",
        "rejected": f" {item.candidates[second]}",
        "source_chosen": item.sources[first],
        "source_rejected": item.sources[second],
        "score_chosen": item.scores[first],
        "score_rejected": item.scores[second],
    }


def ranking_row(item: Voted, prompt: str, better: int, worse: int) -> dict[str, Any]:
    """A row of RANKING; ranks count from 1."""
    row = preference_row(item, prompt, better, worse)
    margin = row.pop("score_chosen") - row.pop("score_rejected")
    return row | {"margin": margin, "rank_chosen": better + 1, "rank_rejected": worse + 1}


if __name__ == "__main__":
    run_command(main)
