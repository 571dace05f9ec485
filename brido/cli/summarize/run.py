"""A run of `brido summarize`: documents in, a line for each out."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from brido.candidates.documents import cut_sentence
from brido.cli.project import ChosenModel, find_model, runtime_for
from brido.cli.rows import STDIN, Values, good_rows, unwritable
from brido.cli.shared import prompt_pieces
from brido.cli.summarize.documents import Columns, read_documents
from brido.cli.summarize.output import Output
from brido.search import SearchSettings
from brido.summarizer.model import writing_of
from brido.summarizer.server import ServerWriter
from brido.summarizer.writer import Named, SummaryWriter, Writing, chunks
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say
from brido.work.running import run_stream
from brido.work.settings import RuntimeSettings
from brido.work.worker import MakeWorker, Workers, model_workers

# What is told of a line.
_TOLD = ("ended", "cut", "unsupported", "flaw", "passes")
_READING = ("prompt", "max_source_tokens", "max_length", "num_beams")
_SPEED = ("device", "threads", "batch_tokens", "shard_documents")


def summarize(files: Sequence[str], options: Mapping[str, Any]) -> None:
    """Write all lines, and say what was written."""
    # All that can be checked is checked before a model is loaded.
    if None not in (options["candidates"], options["num_beams"]):
        raise BridoError("--candidates N writes N beams, one each: leave --num-beams out")
    with closing(Output(options["output"], options["resume"], options["force"])) as output:
        _summarize(files, options, output)


def _summarize(files: Sequence[str], options: Mapping[str, Any], output: Output) -> None:
    candidates, keeps = options["candidates"], options["keep_columns"]
    if options["prompt"] is not None:
        prompt_pieces(options["prompt"])
    changes = {name: options[name] for name in _READING}
    model = find_model(options["model"], options["system"], changes)
    runtime = runtime_for(model, {name: options[name] for name in _SPEED})
    how = options["guided"], candidates, options["checked"]
    if model.asker is None:
        writing = writing_of(model.folder, model.usage, *how)
    elif any(option is not None for option in how):
        raise BridoError("--guided, --checked and --candidates: a server writes this system")
    else:
        writing = Writing(SearchSettings(), lowercase=model.usage.lowercase)
    columns = Columns(options["document_column"], options["id_column"], model.columns)
    names = list(files) or [STDIN]
    read = partial(read_documents, columns=columns, several=len(names) > 1, whole=options["whole"])

    def fault(row: Values) -> str:
        return unwritable(row["columns"]) if keeps else ""

    with good_rows(names, fault, options["max_bad"], "summarize", read, named=True) as rows:
        say(f"summarize: {model.about}{', guided' * (writing.guidance is not None)}")
        for line in model.usage.verdict.splitlines():
            if line.startswith("Keep"):
                say(f"summarize: {line}")
        lines = _write(rows, model, runtime, writing, output, keeps)
    _tell_end([*output.rows, *lines], str(output.path or "stdout"), model)


def _write(
    rows: Iterator[Values], model: ChosenModel, runtime: RuntimeSettings, writing: Writing,
    output: Output, keeps: bool,
) -> list[Values]:  # fmt: skip
    """Write the lines of all documents; what is told of them."""
    told: list[Values] = []
    kept: dict[str, Values] = {}

    def named() -> Iterator[Named]:
        for row in rows:
            if keeps:
                kept[row["id"]] = row["columns"]
            yield Named(row["id"], row["document"])

    def finish(found: Any, _: Any) -> None:
        lines = []
        for one in found:
            line = {"id": one["id"], **one["summary"].as_row()}
            told.append({name: line.get(name) for name in _TOLD})
            # A user's column of the same name is called given_NAME.
            own = kept.pop(one["id"], {}).items()
            lines.append({f"given_{name}" if name in line else name: value for name, value in own})
            lines[-1] |= line
        output.write(lines)

    units = output.missing(chunks(named(), runtime.documents_of_shard, writing.guidance))
    how = model.folder, model.usage.reading, runtime, writing, writing.guidance
    writer: MakeWorker = partial(SummaryWriter, *how)
    if model.asker is not None:
        writer = partial(ServerWriter, model.asker, writing)
    workers = model_workers(runtime) if model.asker is None else Workers()
    with Progress("summarize", None, interval=runtime.log_seconds) as progress:
        run_stream(units, writer, workers, finish, progress.advance)
    output.finish()
    return told


def _tell_end(lines: Sequence[Values], place: str, model: ChosenModel) -> None:
    shares, limit = [line["cut"] for line in lines], model.usage.reading.max_source_tokens
    cut = sum(share > 0 for share in shares)
    counts = {
        "cut": cut,
        "not ended": sum(not line["ended"] for line in lines),
        "not whole": sum(bool(line["flaw"]) for line in lines),
        "with unsupported mentions": sum(bool(line["unsupported"]) for line in lines),
        "failing the check": sum(line.get("passes") is False for line in lines),
    }
    notes = [f"{count:,} {what}" for what, count in counts.items() if count]
    say(f"summarize: {', '.join([f'{len(lines):,} summaries to {place}', *notes])}")
    if not cut:
        return
    unread = sum(round(1000 * share) for share in shares)
    say(
        f"summarize: {cut_sentence(cut, unread, len(lines), limit)}. --max-source-tokens reads "
        "more, if the model can; a run learns to with reading.default.max_source_tokens"
    )
