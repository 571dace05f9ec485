"""A run of `brido summarize`: documents in, a line for each out."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any

from brido.candidates.documents import cut_sentence
from brido.cli.candidates import told_when_compiling
from brido.cli.shared import prompt_pieces
from brido.cli.summarize.documents import GivenDocuments
from brido.cli.summarize.output import FileOutput, Output, check_place
from brido.cli.summarize.project import ChosenModel, find_model, runtime_for, tell
from brido.summarizer.model import check_beams, most_source_tokens, writing_of
from brido.summarizer.writer import Named, SummaryWriter, Writing, chunks
from brido.utils.errors import BridoError
from brido.utils.outputs import STDOUT
from brido.utils.progress import Progress, say
from brido.work.running import run_stream
from brido.work.settings import RuntimeSettings
from brido.work.worker import model_workers

_READING = ("prompt", "max_source_tokens", "max_length", "num_beams")
_SPEED = ("device", "threads", "batch_tokens", "shard_documents")


def summarize(files: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Write all lines, and say what was written; exit code 1 where rows are left out."""
    # All that can be checked is checked before a model is loaded.
    path, candidates = options["output"], options["candidates"]
    check_beams(options["num_beams"], candidates, "--num-beams")
    check_place(path, options["resume"], options["force"])
    if options["prompt"] is not None:
        prompt_pieces(options["prompt"])
    given = {name: options[name] for name in _READING}
    model = find_model(options["model"], options["system"], given)
    documents = GivenDocuments(files, options["document_column"], options["whole"], model.column)
    runtime = runtime_for(model, {name: options[name] for name in _SPEED})
    writing = writing_of(model.folder, model.usage, options["guided"], candidates)
    stream = iter(documents)
    first = next(stream, None)
    if first is None:
        left_out = documents.left_out
        rows = f"all {len(left_out):,} rows are left out: {left_out.text()}"
        raise BridoError(f"there is no document to summarize: {rows if left_out else 'no row'}")
    tell(model, writing.guidance is not None)
    is_file = path is not None and path != STDOUT
    output = FileOutput(path, options["resume"]) if is_file else Output()
    try:
        with told_when_compiling() if candidates else nullcontext():
            counts = _write(chain([first], stream), model, runtime, writing, output)
    except KeyboardInterrupt as stop:
        stop.args = (output.kept,)
        raise
    except BridoError:
        if output.lines:
            say(f"summarize: {output.kept}")
        raise
    finally:
        output.close()
    _tell_end(counts, str(path) if is_file else "stdout", model, writing)
    if documents.left_out:
        left_out = documents.left_out
        say(f"summarize: {len(left_out):,} rows are left out: {left_out.text()}")
        raise SystemExit(1)


def _write(
    stream: Iterator[Named],
    model: ChosenModel,
    runtime: RuntimeSettings,
    writing: Writing,
    output: Output,
) -> Counter[str]:
    """Write the lines of all documents; what is told of them."""
    counts: Counter[str] = Counter()
    limit = model.usage.reading.max_source_tokens
    units = output.missing(chunks(stream, runtime.documents_of_shard, writing.guidance))

    def finish(rows: Any, _: Any) -> None:
        lines = [{"id": row["id"], **row["summary"].as_row()} for row in rows]
        output.write(lines)
        for line in lines:
            _count(counts, line, limit)

    writer = partial(SummaryWriter, model.folder, model.usage.reading, runtime, writing)
    with Progress("summarize", None, interval=runtime.log_seconds) as progress:
        run_stream(units, writer, model_workers(runtime), finish, progress.advance)
    for line in output.rows:
        _count(counts, line, limit)
    output.finish()
    return counts


def _count(counts: Counter[str], line: Mapping[str, Any], limit: int) -> None:
    """Count a line; `limit`: the tokens that are read of a document."""
    cut = line["cut"]
    counts.update(
        summaries=1,
        cut=cut > 0,
        not_ended=not line["ended"],
        with_unsupported_mentions=bool(line["unsupported"]),
        unread_thousandths=round(1000 * cut),
    )
    # A document of which nothing was read has no length that is known.
    counts["longest"] = max(counts["longest"], math.ceil(limit / max(1 - cut, 0.001)))


def _tell_end(counts: Counter[str], place: str, model: ChosenModel, writing: Writing) -> None:
    names = ("cut", "not_ended", "with_unsupported_mentions")
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
