"""Votes as training data for other trainers: `brido export-pairs scored.jsonl`."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import click

from brido.cli.candidates import CandidatesTold
from brido.cli.pair_rows import Messages, pair_rows, scored_document, scored_problem
from brido.cli.rows import good_rows
from brido.cli.shared import (
    STDOUT_OR_FILE,
    NumberRange,
    choice_option,
    max_bad_option,
    output_options,
    prompt_option,
    prompt_pieces,
)
from brido.tables.documents import CandidateDocument
from brido.utils.errors import BridoError, close_to, quoted
from brido.utils.ids import Ids
from brido.utils.outputs import check_output, json_line, output_text
from brido.utils.progress import say

# The prompt ends without a space and each answer starts with one, as tokenizers of decoder-only
# models expect it: the space belongs to the token of the first word.
PROMPT = "{{ document }}\\n\\nTL;DR:"


@click.command("export-pairs")
@click.argument("file", required=False)
@choice_option("--split", ["train", "validation"], "Without FILE: the split.")
@click.option(
    "--system",
    metavar="NAME",
    help="Without FILE: whose scores. Default: the system that the run chose.",
)
@choice_option(
    "--pairs",
    ["best-worst", "all"],
    "Pair the best candidate with the worst, or write every pair.",
)
@click.option(
    "--min-gap",
    type=NumberRange(0),
    metavar="NUMBER",
    default=0.0,
    show_default=True,
    help="Leave out pairs whose scores do not differ by more than this.",
)
@prompt_option("The prompt of a line; each answer then begins with a space.", PROMPT)
@click.option("--chat", is_flag=True, help="Write messages of a chat instead of texts.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Without FILE: the folder of the pipeline's tables.",
)
@max_bad_option
@output_options(STDOUT_OR_FILE)
def command(
    file: str | None,
    split: str,
    system: str | None,
    pairs: str,
    min_gap: float,
    prompt: str,
    chat: bool,
    data: Path,
    max_bad: float,
    output: Path | None,
    force: bool,
) -> None:
    """Write pairs of candidates for DPO and similar trainers: the better and the worse one.

    FILE (- for stdin) is what `brido score` wrote of rows with `document`; without FILE the votes
    of this project's run are taken. A line has the prompt and two answers, as TRL reads them, with
    their scores and ranks. Its margin is the difference of the scores: TRL's RewardTrainer
    subtracts it in its loss.

    With --chat a line holds messages. Those of FILE have --prompt; those of the run have the prompt
    that base gets (section `reading` of params.yaml), and a long document is cut as for base.

    \b
    Example:
        brido score candidates.jsonl | brido export-pairs - -o pairs.jsonl
    """
    from brido.vote.preferences import pairs as pairs_of

    check_output(output, force)
    pieces = prompt_pieces(prompt)
    left_out, counts, told = Counter[str](), Counter[str](), CandidatesTold()
    with ExitStack() as stack:
        conversation: Callable[[str], Messages] | None = None
        if file is not None:
            documents = _of_file(file, max_bad, told, stack)
            if chat:
                conversation = lambda text: [{"role": "user", "content": text.join(pieces)}]  # noqa: E731
        else:
            documents = _of_run(data, split, system)
            conversation = _conversation(data) if chat else None
        text = stack.enter_context(output_text(output))
        for item in documents:
            ranks = pairs_of(item, pairs == "all", min_gap, left_out)
            rows = pair_rows(item, ranks, pieces, conversation)
            counts.update(pairs=len(rows), with_rows=bool(rows), without=not rows)
            text.writelines(map(json_line, rows))
    say(f"export-pairs: {counts['pairs']:,} pairs of {counts['with_rows']:,} documents")
    if counts["without"]:
        say(f"export-pairs: {counts['without']:,} documents gave no pair: too few candidates, or "
            "scores that are too close")  # fmt: skip
    for what, times in left_out.items():
        say(f"export-pairs: left out {times:,} {what}")
    told.say("export-pairs", "`brido score --clean` treats them as the pipeline does", "unicode")


def _of_file(
    file: str, max_bad: float, told: CandidatesTold, stack: ExitStack
) -> Iterator[CandidateDocument]:
    ids = Ids()
    rows = stack.enter_context(
        good_rows(
            file,
            lambda row, number: scored_problem(row) or ids.fault(row.get("id", number)),
            max_bad,
            "export-pairs",
        )
    )
    for number, row in rows:
        document = scored_document(row, number)
        told.add([document.candidates[place] for place in document.order])
        yield document


def _of_run(data: Path, split: str, system: str | None) -> Iterator[CandidateDocument]:
    from brido.tables import read_metadata
    from brido.tables.join import SplitTables, read_documents

    tables = SplitTables.at(data, split, tuned=scored_system(data, system))
    assert tables.scores is not None
    if read_metadata(tables.scores, "score", scoring=dict).get("scoring", {}).get("shuffle"):
        say("export-pairs: warning: these scores are shuffled (scoring.shuffle: true, the control)")
    columns = ["document", "candidates", "sources", "scores", "order"]
    return (document for batch in read_documents(tables, columns) for document in batch)


def scored_system(data: Path, named: str | None) -> str:
    """The system whose scores are exported: the named one, or the chosen one.

    Raises:
        BridoError: it has no scores, or none is named where several could be meant.
    """
    from brido.cli.export_model import chosen_system

    folder = data / "scores"
    known = sorted(path.name for path in folder.glob("*") if path.is_dir())
    if not known:
        raise BridoError(f"{folder} is missing: make it with `dvc repro score`")
    if named is not None and named not in known:
        raise BridoError(f"--system: {quoted(named)} has no scores{close_to(named, known)}")
    wanted = named or chosen_system()
    if wanted in known or len(known) == 1:
        return wanted if wanted in known else known[0]
    why = "nothing is chosen yet" if wanted is None else f"the chosen system, {wanted}, has none"
    raise BridoError(f"whose scores? {why}: name --system, one of {', '.join(known)}")


def _conversation(data: Path) -> Callable[[str], Messages]:
    """Return a function that makes the messages that base gets for a document."""
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
    tokenizer = load_tokenizer(data / "checkpoints" / "base")
    if tokenizer.chat_template is None or reading.template is None:
        raise BridoError(
            "--chat: the base model does not use a chat template: leave --chat out, and the lines "
            "are texts"
        )
    prompt = Prompt.of(tokenizer, reading)
    limit = reading.max_source_tokens
    return lambda document: messages(reading, prompt.fit(document, limit)[1])
