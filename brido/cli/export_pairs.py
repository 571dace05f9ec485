"""Votes as training data for other trainers: `brido export-pairs scored.jsonl`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from brido.cli.rows import good_rows
from brido.cli.score import candidates_problem
from brido.cli.shared import (
    DATA,
    STDOUT_OR_FILE,
    choice_option,
    chosen_system,
    max_bad_option,
    output_options,
    prompt_option,
    prompt_pieces,
)
from brido.tables.documents import CandidateDocument
from brido.utils.errors import BridoError, close_to
from brido.utils.outputs import check_output, json_line, output_text
from brido.utils.progress import say
from brido.utils.rows import is_number
from brido.vote.consensus import ranking

# The prompt of a document, a text or the messages of a chat, and what makes it.
Asked = str | list[dict[str, str]]
Asks = Callable[[str], Asked]
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
@prompt_option("The prompt of a line; each answer then begins with a space.", PROMPT)
@click.option("--chat", is_flag=True, help="Write messages of a chat instead of texts.")
@max_bad_option
@output_options(STDOUT_OR_FILE)
def command(
    file: str | None, split: str, system: str | None, pairs: str, prompt: str, chat: bool,
    max_bad: float, output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Write pairs of candidates for DPO and similar trainers: the better and the worse one.

    A row of FILE (- for stdin) has `document`, `candidates` and `scores`, as `brido score` writes
    them; without FILE the votes of this project's run are taken. A line has the prompt and two
    answers, as TRL reads them, with their scores and ranks. Its margin is the difference of the
    scores: TRL's RewardTrainer subtracts it in its loss.

    With --chat a line holds messages. Those of FILE have --prompt; those of the run have the prompt
    that base gets (section `reading` of params.yaml), and a long document is cut as for base.

    \b
    Example:
        brido score candidates.jsonl | brido export-pairs - -o pairs.jsonl
    """
    from brido.vote.preferences import pairs as pairs_of

    check_output(output, force)
    asks = _as_base() if chat and file is None else partial(_asked, prompt_pieces(prompt), chat)
    documents = _of_run(split, system) if file is None else _of_file(file, max_bad)
    left_out, counts = Counter[str](), Counter[str]()
    # What is wrong with the rows is said before a file or its folder is made.
    first = list(islice(documents, 1))
    with output_text(output) as text:
        for item in chain(first, documents):
            ranks = pairs_of(item, pairs == "all", left_out)
            rows = [_row(item, better, worse, asks) for better, worse in ranks]
            counts.update(pairs=len(rows), with_rows=bool(rows), without=not rows)
            text.writelines(map(json_line, rows))
    say(f"export-pairs: {counts['pairs']:,} pairs of {counts['with_rows']:,} documents")
    if counts["without"]:
        left_out["documents without a pair (few candidates, or equal scores)"] = counts["without"]
    for what, times in left_out.items():
        say(f"export-pairs: left out {times:,} {what}")


def _asked(pieces: Sequence[str], chat: bool, document: str) -> Asked:
    text = document.join(pieces)
    return [{"role": "user", "content": text}] if chat else text


def _as_base() -> Asks:
    """What makes the messages that base gets for a document."""
    from brido.models.chats import messages
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt
    from brido.settings.load import load_params

    folder = DATA / "checkpoints" / "base"
    if not (folder / "tokenizer_config.json").is_file():
        raise BridoError(
            f"--chat: {folder} has no tokenizer: make it with `dvc repro checkpoint@base`, or "
            "leave out --chat where the run has no base"
        )
    reading, tokenizer = load_params().reading_of("base"), load_tokenizer(folder)
    if tokenizer.chat_template is None or reading.template is None:
        raise BridoError(
            "--chat: the base model does not use a chat template: leave --chat out, and the lines "
            "are texts"
        )
    prompt, limit = Prompt.of(tokenizer, reading), reading.max_source_tokens
    return lambda document: messages(reading, prompt.fit(document, limit)[1])


def _row(item: CandidateDocument, better: int, worse: int, asks: Asks) -> dict[str, Any]:
    """A pair as a row; ranks count from 1. The margin is the weight of ScPO (2411.04109)."""
    first, second = item.order[better], item.order[worse]
    prompt = asks(item.document)
    texts = [item.candidates[place] for place in (first, second)]
    answers: list[Any] = [f" {text}" for text in texts]
    if isinstance(prompt, list):
        answers = [[{"role": "assistant", "content": text.strip()}] for text in texts]
    return {
        "id": item.id,
        "prompt": prompt,
        "chosen": answers[0],
        "rejected": answers[1],
        "source_chosen": item.sources[first],
        "source_rejected": item.sources[second],
        "score_chosen": item.scores[first],
        "score_rejected": item.scores[second],
        "margin": item.scores[first] - item.scores[second],
        "rank_chosen": better + 1,
        "rank_rejected": worse + 1,
    }


def _of_file(file: str, max_bad: float) -> Iterator[CandidateDocument]:
    """The documents of a file."""
    with good_rows(file, scored_problem, max_bad, "export-pairs", named=True) as rows:
        for row in rows:
            sources, size = row.get("sources"), len(row["candidates"])
            known = isinstance(sources, list) and len(sources) == size
            scores = np.array(row["scores"], np.float64)
            yield CandidateDocument(
                row["id"],
                row["document"],
                candidates=row["candidates"],
                scores=scores.tolist(),
                order=ranking(scores).tolist(),
                sources=sources if sources and known else [None] * size,
            )


def scored_problem(row: dict[str, Any]) -> str:
    """What is wrong with a row that `brido score` shall have written of a document, or ""."""
    if problem := candidates_problem(row, ["document"]):
        return problem
    scores, size = row.get("scores"), len(row["candidates"])
    if (
        isinstance(scores, list)
        and len(scores) == size
        and all(score is None or is_number(score) for score in scores)
    ):
        return ""
    return f"`scores` must be a list of {size} numbers, one a candidate: `brido score` writes it"


def _of_run(split: str, system: str | None) -> Iterator[CandidateDocument]:
    """The documents of this project's run."""
    from brido.tables import read_metadata
    from brido.tables.join import SplitTables, read_documents

    tables = SplitTables.at(DATA, split, tuned=scored_system(system))
    assert tables.scores is not None
    if read_metadata(tables.scores, "score", scoring=dict).get("scoring", {}).get("shuffle"):
        say("export-pairs: warning: these scores are shuffled (scoring.shuffle: true, the control)")
    columns = ["document", "candidates", "sources", "scores", "order"]
    for documents in read_documents(tables, columns):
        yield from documents


def scored_system(named: str | None) -> str:
    """The system whose scores are exported: the named one, or the chosen one.

    Raises:
        BridoError: it has no scores, or none is named where several could be meant.
    """
    known = sorted(path.name for path in (DATA / "scores").glob("*") if path.is_dir())
    if not known:
        raise BridoError(
            f"{DATA} has no scores: make them with `dvc repro score`, or name a FILE that `brido "
            "score` wrote"
        )
    if named is None and len(known) == 1:
        return known[0]
    if not (wanted := named or chosen_system()):
        raise BridoError(f"--system: name whose scores, as no system is chosen: {', '.join(known)}")
    if wanted not in known:
        raise BridoError(f"--system: {DATA} has no scores of {wanted}{close_to(wanted, known)}")
    return wanted
