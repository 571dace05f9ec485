"""A run of `brido summarize`: documents in, a line for each out."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from brido.candidates.documents import cut_sentence
from brido.cli.rows import Values, good_rows
from brido.cli.shared import prompt_pieces
from brido.cli.summarize.documents import DocumentReader
from brido.cli.summarize.output import Output, check_place
from brido.cli.summarize.project import ChosenModel, find_model, runtime_for, tell
from brido.search import SearchSettings
from brido.summarizer.model import most_source_tokens, writing_of
from brido.summarizer.server import ServerWriter
from brido.summarizer.writer import Named, SummaryWriter, Writing, chunks
from brido.utils.errors import BridoError
from brido.utils.files import STDIN
from brido.utils.ids import Ids, id_text
from brido.utils.outputs import json_line
from brido.utils.progress import Progress, say
from brido.work.running import run_stream
from brido.work.settings import RuntimeSettings
from brido.work.worker import MakeWorker, Workers, model_workers

_READING = ("prompt", "max_source_tokens", "max_length", "num_beams")
_SPEED = ("device", "threads", "batch_tokens", "shard_documents")


def summarize(files: Sequence[str], options: Mapping[str, Any]) -> None:
    """Write all lines, and say what was written."""
    # All that can be checked is checked before a model is loaded.
    path, candidates, keeps = (options[name] for name in ("output", "candidates", "keep_columns"))
    check_place(path, options["resume"], options["force"])
    if options["prompt"] is not None:
        prompt_pieces(options["prompt"])
    model = find_model(
        options["model"], options["system"], {name: options[name] for name in _READING}
    )
    runtime = runtime_for(model, {name: options[name] for name in _SPEED})
    how = options["guided"], candidates, options["checked"]
    if model.asker is None:
        writing = writing_of(model.folder, model.usage, *how)
    elif any(option is not None for option in how):
        raise BridoError("--guided, --checked and --candidates: a server writes this system")
    else:
        writing = Writing(SearchSettings(), lowercase=model.usage.lowercase)
    columns, ids = (options[name] for name in ("document_column", "id_column"))
    names, seen = list(files) or [STDIN], Ids()
    read = DocumentReader(names, columns, ids, options["whole"], model.columns)

    def fault(row: Values, number: int) -> str:
        return seen.fault(row["id"]) or (_unwritable(row["columns"]) if keeps else "")

    with (
        good_rows(names, fault, options["max_bad"], "summarize", read) as rows,
        Output(path, options["resume"]) as output,
    ):
        tell(model, writing.guidance is not None)
        counts = _write((row for _, row in rows), model, runtime, writing, output, keeps)
    _tell_end(counts, str(output.path or "stdout"), model, writing)


def _unwritable(columns: Values) -> str:
    """Why a user's row cannot be written as JSON, or ""."""
    try:
        json_line(columns)
    except BridoError as error:
        return str(error)
    return ""


def _write(
    rows: Iterator[Values],
    model: ChosenModel,
    runtime: RuntimeSettings,
    writing: Writing,
    output: Output,
    keeps: bool,
) -> Counter[str]:
    """Write the lines of all documents; what is told of them."""
    counts: Counter[str] = Counter()
    limit = model.usage.reading.max_source_tokens
    kept: dict[str, Values] = {}

    def named() -> Iterator[Named]:
        for row in rows:
            name = id_text(row["id"]) or ""
            if keeps:
                kept[name] = row["columns"]
            yield Named(name, row["document"])

    def finish(found: Any, _: Any) -> None:
        lines = [{"id": one["id"], **one["summary"].as_row()} for one in found]
        output.write([_beside(kept.pop(line["id"], {}), line) for line in lines])
        for line in lines:
            _count(counts, line, limit)

    units = output.missing(chunks(named(), runtime.documents_of_shard, writing.guidance))
    writer: MakeWorker = partial(SummaryWriter, model.folder, model.usage.reading, runtime, writing)
    if model.asker is not None:
        writer = partial(ServerWriter, model.asker, writing.lowercase)
    workers = model_workers(runtime) if model.asker is None else Workers()
    with Progress("summarize", None, interval=runtime.log_seconds) as progress:
        run_stream(units, writer, workers, finish, progress.advance)
    for line in output.rows:
        _count(counts, line, limit)
    output.finish()
    return counts


def _beside(columns: Values, line: Values) -> Values:
    """A line with a user's columns before it; one of the same name is called given_NAME."""
    own = {f"given_{name}" if name in line else name: value for name, value in columns.items()}
    return own | line


def _count(counts: Counter[str], line: Mapping[str, Any], limit: int) -> None:
    """Count a line; `limit`: the tokens that are read of a document."""
    cut = line["cut"]
    counts.update(
        summaries=1,
        cut=cut > 0,
        not_ended=not line["ended"],
        not_whole=bool(line["flaw"]),
        with_unsupported_mentions=bool(line["unsupported"]),
        failing_the_check=line.get("passes") is False,
        unread_thousandths=round(1000 * cut),
    )
    # A document of which nothing was read has no length that is known.
    counts["longest"] = max(counts["longest"], math.ceil(limit / max(1 - cut, 0.001)))


def _tell_end(counts: Counter[str], place: str, model: ChosenModel, writing: Writing) -> None:
    names = ("cut", "not_ended", "not_whole", "with_unsupported_mentions", "failing_the_check")
    notes = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in names if counts[name]]
    written = f"{counts['summaries']:,} summaries to {place}"
    say(f"summarize: {', '.join([written, *notes])}")
    if not counts["cut"]:
        return
    limit = model.usage.reading.max_source_tokens
    most = most_source_tokens(model.folder, writing.search.max_length) or counts["longest"]
    wanted = min(counts["longest"], most)
    way = (
        f"--max-source-tokens {wanted} reads more, with more memory and time; a run learns to read "
        "as much with reading.default.max_source_tokens"
        if wanted > limit
        else "The model can read no more: shorten the documents"
    )
    cut, unread, all_of = counts["cut"], counts["unread_thousandths"], counts["summaries"]
    say(f"summarize: {cut_sentence(cut, unread, all_of, limit)}. {way}")
