"""What a run leaves for others: `brido export preferences|model`."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brido.cli.comparison import unclean_words
from brido.cli.export_system import check_place, export_system, scored_system
from brido.cli.shared import choice_option, output_option, prompt_option, prompt_pieces
from brido.utils.errors import BridoError
from brido.utils.extras import extra
from brido.utils.files import input_lines
from brido.utils.outputs import check_output
from brido.utils.progress import Progress, say

if TYPE_CHECKING:
    from brido.cli.preference_files import Messages
    from brido.tables.join import CandidateDocument
    from brido.vote.preferences import Rejected

# The prompt ends without a space and each answer starts with one, as tokenizers of decoder-only
# models expect it: the space belongs to the token of the first word.
PROMPT = "{{ document }}\\n\\nTL;DR:"


@click.command("export")
@click.argument("kind", type=click.Choice(["preferences", "model"]))
@click.option(
    "--scores",
    metavar="FILE",
    help="Read what `brido score` wrote (- for stdin), not the pipeline's votes.",
)
@output_option(
    "The file to write: .parquet or .jsonl (.gz, .zst). Default: "
    "DATA/export/preferences-SPLIT.parquet, or stdout with --scores. For `model`: a new folder, by "
    "default DATA/export/model."
)
@choice_option("--split", ["train", "validation"], "The split of the pipeline's votes.")
@click.option(
    "--system",
    metavar="NAME",
    help="Whose scores, or whose model. Default: the system that the run chose "
    "(metrics/choice.json).",
)
@choice_option(
    "--pairs",
    ["best-worst", "all"],
    "Pair the best candidate with the worst, or write every pair.",
)
@choice_option(
    "--rejected",
    ["worst", "lower-half"],
    "With best-worst: reject the worst candidate, or one of the worse half, which the document's "
    "id decides (SEALONG, arXiv 2411.08147).",
)
@click.option(
    "--max-similarity",
    type=float,
    default=1.0,
    show_default=True,
    help="Leave out pairs whose texts are more similar than this (harmonic mean of ROUGE-1 and 2).",
)
@click.option(
    "--min-gap",
    type=float,
    default=0.0,
    show_default=True,
    help="Leave out pairs whose scores do not differ by more than this.",
)
@prompt_option("Each answer begins with a space.", PROMPT)
@click.option("--chat", is_flag=True, help="Write messages of a chat instead of texts.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="The folder of the pipeline's tables.",
)
def command(**options: Any) -> None:
    """Write votes as training data for other trainers, or the chosen model with its card.

    \b
    preferences  pairs of candidates, for DPO and similar trainers. A row has the prompt and two
                 answers, as TRL reads them, with their scores and ranks. Its margin is the
                 difference of the scores: TRL's RewardTrainer subtracts it in its loss.
    model        the chosen model with its card as README.md, ready for a hub of models

    Each line of --scores also needs its `document`.

    With --chat a row holds messages, in TRL's conversational format. With --scores the user's
    message is --prompt. Without --scores it is the prompt that base gets in the pipeline (section
    `reading` of params.yaml), and a long document is cut as for base.

    \b
    Example:
        brido export preferences --pairs all -o pairs.parquet
    """
    asked = ExportOptions(**options)
    check_place(asked.output, asked.data)
    if asked.kind == "model":
        with extra():
            folder = asked.output or asked.data / "export" / "model"
            return export_system(asked.system, asked.data, folder)
    if asked.output is None and asked.scores is None:
        asked.output = asked.data / "export" / f"preferences-{asked.split}.parquet"
    with extra():
        pieces = _checked(asked)
    inputs = [] if asked.scores is None else [asked.scores]
    check_output(asked.output, inputs)
    with extra(), ExitStack() as stack:
        from brido.cli.preference_files import rows_of, write_pairs
        from brido.vote.preferences import pairs

        votes, count = _votes(asked, stack)
        unclean: Counter[bool] = Counter()
        if asked.scores is not None:
            votes = _counted(votes, unclean)
        conversation = _conversation(asked, pieces) if asked.chat else None
        left_out: Counter[str] = Counter()
        how = (asked.pairs == "all", asked.min_gap, left_out, asked.rejected, asked.max_similarity)
        rows = (rows_of(item, pairs(item, *how), pieces, conversation) for item in votes)
        progress = stack.enter_context(Progress("export", count))
        counts = write_pairs(rows, asked.chat, asked.output, progress.advance, inputs)
    _say(counts, asked.output, left_out)
    if unclean[True]:
        say(f"export: {unclean_words(unclean[True], unclean.total())} they are written as they "
            "are. `brido score --clean` treats them as the pipeline does")  # fmt: skip


@dataclass
class ExportOptions:
    """The command line; see `command`."""

    kind: str
    output: Path | None
    scores: str | None
    split: str
    system: str | None
    pairs: str
    rejected: "Rejected"
    max_similarity: float
    min_gap: float
    prompt: str
    chat: bool
    data: Path


def _say(told: tuple[int, int, int], output: Path | None, left_out: Counter[str]) -> None:
    written, with_rows, without = told
    say(f"export: {written:,} pairs of {with_rows:,} documents to {output or 'stdout'}")
    if without:
        say(f"export: {without:,} documents gave no pair: too few candidates, or scores or texts "
            "that are too similar")  # fmt: skip
    for what, times in left_out.items():
        say(f"export: left out {times:,} {what}")


def _votes(
    options: ExportOptions, stack: ExitStack
) -> tuple[Iterator["CandidateDocument"], int | None]:
    """Return the documents that are asked for, and how many there are if that is known."""
    from brido.vote.preferences import read_scored, read_votes

    if options.scores is not None:
        lines = stack.enter_context(input_lines(options.scores))
        return read_scored(lines, "stdin" if options.scores == "-" else options.scores), None
    from brido.tables import count_rows, read_metadata
    from brido.tables.join import SplitTables

    system = scored_system(options.data, options.system)
    tables = SplitTables.at(options.data, options.split, tuned=system)
    count = count_rows(tables.pool, "pool")
    assert tables.scores is not None
    if (read_metadata(tables.scores, "score").get("scoring") or {}).get("shuffle"):
        say("export: warning: these scores are shuffled (scoring.shuffle: true, the control)")
    return read_votes(tables), count


def _counted(
    votes: Iterator["CandidateDocument"], unclean: Counter[bool]
) -> Iterator["CandidateDocument"]:
    """The documents; their candidates are counted by whether the pipeline would change them.

    Raises:
        BridoError: there is none.
    """
    from brido.candidates.cleaning import clean

    document = None
    for document in votes:
        scored = zip(document.candidates, document.scores, strict=True)
        cleaned = (clean(text) for text, score in scored if not math.isnan(score))
        unclean.update(bool(each.rules) or not each.answers for each in cleaned)
        yield document
    if document is None:
        raise BridoError("--scores: nothing was exported: the input has no line")


def _checked(options: ExportOptions) -> tuple[str, ...]:
    """What stands around a document in the prompt; raise BridoError for bad options."""
    problems: list[str] = []
    pieces: tuple[str, ...] = ()
    try:
        pieces = prompt_pieces(options.prompt)
    except BridoError as error:
        problems.append(str(error))
    if not options.min_gap >= 0:
        problems.append(f"--min-gap must be at least 0, not {options.min_gap}")
    if not 0 <= options.max_similarity <= 1:
        problems.append(f"--max-similarity must be from 0 to 1, not {options.max_similarity}")
    if options.scores is not None and options.system is not None:
        problems.append("--system names scores of the pipeline, and --scores another file's")
    if options.pairs == "all" and options.rejected != "worst":
        problems.append(
            f"--rejected {options.rejected} says which candidate the best one is paired with, and "
            "--pairs all pairs all: give one of the two"
        )
    if options.chat and options.scores is None and options.prompt != PROMPT.replace("\\n", "\n"):
        problems.append(
            "--prompt: with --chat the messages are those that base gets in the pipeline (section "
            "`reading` of params.yaml): leave --prompt out"
        )
    output, endings = options.output, (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
    if output is not None and not output.name.endswith(endings):
        problems.append(f"--output {output} must end in .parquet or .jsonl (.gz, .zst)")
    if problems:
        raise BridoError.from_problems("the export cannot start:", problems)
    return pieces


def _conversation(options: ExportOptions, pieces: tuple[str, ...]) -> "Callable[[str], Messages]":
    """Return a function that makes the messages for a document."""
    if options.scores is not None:
        return lambda document: [{"role": "user", "content": document.join(pieces)}]
    from brido.models.chats import messages
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt
    from brido.settings.load import load_params

    params = load_params()
    if not params.has_base:
        raise BridoError(
            "--chat: messages are written as base gets them, and there is none "
            "(checkpoints.base.source: none): leave --chat out, or name a model there"
        )
    reading = params.reading_of("base")
    tokenizer = load_tokenizer(options.data / "checkpoints" / "base")
    if tokenizer.chat_template is None or reading.template is None:
        raise BridoError(
            "--chat: the base model does not use a chat template: leave --chat out, and the rows "
            "are texts"
        )
    prompt = Prompt.of(tokenizer, reading)
    limit = reading.max_source_tokens
    return lambda document: messages(reading, prompt.fit(document, limit)[1])
