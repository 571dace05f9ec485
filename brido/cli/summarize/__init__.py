"""Summaries of new documents: `brido summarize articles.jsonl -o summaries.jsonl`."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import click

from brido.cli.comparison import told_when_compiling
from brido.cli.shared import (
    NumberRange,
    choice_option,
    output_option,
    prompt_option,
    prompt_pieces,
)
from brido.cli.summarize.documents import GivenDocuments
from brido.cli.summarize.long import count_cut, cut_advice
from brido.cli.summarize.output import FileOutput, Output, check_output
from brido.cli.summarize.project import ChosenModel, find_model, runtime_for, tell
from brido.summarizer.model import check_beams, writing_of
from brido.summarizer.summary import Summary
from brido.summarizer.writer import Named, SummaryWriter, chunks
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say
from brido.work.running import run_stream
from brido.work.shards import fingerprint
from brido.work.worker import model_workers


@click.command("summarize")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A model's folder. Default: data/chosen, the system that this project's run chose.",
)
@click.option("--system", metavar="NAME", help="Another system of this project, such as base.")
@output_option("The file to write, in place of stdout. It must be new.")
@click.option("--resume", is_flag=True, help="Go on with the --output of a stopped command.")
@click.option("--text", "whole", is_flag=True, help="Read each file as one document.")
@click.option(
    "--document-column",
    metavar="NAME",
    help="The column (key) with the documents; else the run's own, or a usual one.",
)
@click.option(
    "--guided/--no-guided",
    default=None,
    help="Let the other documents of the input guide the search: words that they make likely too "
    "count less. Default: as the system was decoded.",
)
@click.option(
    "--candidates",
    type=click.IntRange(min=2),
    metavar="N",
    help="Write N diverse candidates of each document and return the one most like the others.",
)
@click.option(
    "--flag-below",
    type=NumberRange(0, 1),
    metavar="X",
    help="With --candidates: `flagged` is true where the agreement is below X.",
)
@choice_option(
    "--long", ["cut", "refuse"], "What becomes of a document that is longer than the model reads."
)
@prompt_option("Replaces the model's prompt.")
@click.option("--max-source-tokens", type=int, help="Tokens that the model reads.")
@click.option("--max-length", type=int, help="Most tokens of a summary.")
@click.option("--num-beams", type=int, help="Beams of the search.")
@click.option("--device", help="cpu, cuda, cuda:1 ... Default: one worker on each GPU, or the CPU.")
@click.option("--threads", type=int, help="Threads of PyTorch on a processor; 0: all cores.")
@click.option("--batch-tokens", type=int, help="Size of a batch; see runtime.batch_tokens.")
@click.option(
    "--shard-documents",
    type=int,
    help="Documents that are written at once (25). Fewer: the first lines come sooner.",
)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Summarize the documents of FILE... (default: stdin) and write a JSON line for each, in order.

    \b
    Reads  .jsonl .ndjson .json .csv .tsv .parquet: the column document, article, text or similar
           .txt .md: a document a line, or with --text a document a file
           stdin: JSON if it begins as objects do, or an array; else a document a line
           .gz and .zst of all but Parquet
    Writes id          the row's id, else its number
           summary     white space in the document is tidied first, as in the pipeline
           ended       false: the summary stops at the length limit
           cut         share of the document's tokens that the model did not read
           unsupported numbers and names that the document does not hold, with their places
           agreement   with --candidates: mean similarity with the other candidates

    Blank rows and rows without a text are named, counted and left out; the exit code is then 1. An
    error ends the command with 2, Ctrl-C with 130. Lines that were written stay. With --output they
    are in FILE.partial until all are there; --resume goes on with them.

    A guided document needs 4 others with different texts (100 documents guide each other).

    \b
    Example:
        brido summarize --model my/model articles.jsonl -o summaries.jsonl
    """
    run = _Run.prepare(files, options)
    try:
        with told_when_compiling() if options["candidates"] else nullcontext():
            run.summarize()
    except KeyboardInterrupt as stop:
        stop.args = (run.output.kept,)
        raise
    except BridoError:
        if run.output.documents:
            say(f"summarize: {run.output.kept}")
        raise
    finally:
        run.output.close()
    if run.tell_end():
        raise SystemExit(1)


@dataclass
class _Run:
    """A command under way; longest: tokens of a summary, at most."""

    documents: GivenDocuments
    stream: Iterator[Named]
    output: Output
    writer: partial[SummaryWriter]
    model: ChosenModel
    longest: int
    runtime: Any
    guidance: Any
    flag_below: float | None
    # Of all documents up to the end of each chunk that is under way.
    digests: deque[str] = field(default_factory=deque)

    @classmethod
    def prepare(cls, files: tuple[str, ...], options: dict[str, Any]) -> "_Run":
        """Check everything that can be checked before the model is loaded."""
        if options["flag_below"] is not None and options["candidates"] is None:
            raise BridoError("--flag-below needs --candidates: one summary agrees with nothing")
        check_beams(options["num_beams"], options["candidates"], "--num-beams")
        check_output(options["output"], options["resume"])
        if options["prompt"] is not None:
            prompt_pieces(options["prompt"])
        reading = ("prompt", "max_source_tokens", "max_length", "num_beams")
        model = find_model(options["model"], options["system"], _given(options, reading))
        documents = GivenDocuments(
            files, options["document_column"], options["whole"], model.column
        )
        speed = ("device", "threads", "batch_tokens", "shard_documents")
        runtime = runtime_for(model, _given(options, speed))
        ways = (options["guided"], options["candidates"], options["long"])
        writing = writing_of(model.folder, model.usage, *ways)
        stream = iter(documents)
        first = next(stream, None)
        if first is None:
            left_out = documents.left_out
            rows = f"all {len(left_out):,} rows are left out: {left_out.text()}"
            raise BridoError(f"there is no document to summarize: {rows if left_out else 'no row'}")
        tell(model, writing.guidance is not None)
        if path := options["output"]:
            settings = [model.usage, str(writing), options["document_column"], options["whole"]]
            exact = [options["flag_below"], runtime.batch_tokens, runtime.documents_of_shard]
            key = fingerprint([*settings, *exact], [model.folder, *documents.paths])
            output: Output = FileOutput(path, key, options["resume"])
        else:
            output = Output(None)
        writer = partial(SummaryWriter, model.folder, model.usage.reading, runtime, writing)
        stream = chain([first], stream)
        guidance = writing.guidance
        longest, flag = writing.search.max_length, options["flag_below"]
        return cls(documents, stream, output, writer, model, longest, runtime, guidance, flag)

    def summarize(self) -> None:
        """Write all lines."""
        interval = self.runtime.log_seconds
        with Progress("summarize", None, interval=interval) as progress:
            progress.skip(self.output.documents)
            workers = model_workers(self.runtime)
            units = self._units()
            run_stream(units, self.writer, workers, self._finish, progress.advance)
        self.output.finish()

    def _units(self) -> Iterator[list[Named]]:
        """The chunks that are not done.

        Files are known by the key of the output; what comes on stdin is known by its digest alone.
        """
        waiting, read = self.output.documents, blake2b(digest_size=16)
        for chunk in chunks(self.stream, self.runtime.documents_of_shard, self.guidance):
            for named in chunk:
                read.update(json.dumps(named).encode())
            if not waiting:
                self.digests.append(read.hexdigest())
                yield chunk
                continue
            waiting -= len(chunk)
            if waiting < 0 or (not waiting and read.hexdigest() != self.output.digest):
                raise self._other_documents
        if waiting:
            raise self._other_documents

    @property
    def _other_documents(self) -> BridoError:
        return BridoError(
            f"--resume: the documents are not those of {self.output.path}.partial: delete it to "
            "start anew"
        )

    def _finish(self, rows: Any, _: Any) -> None:
        """Write the lines of a chunk, and count what is told at the end."""
        lines, output = [], self.output
        for row in rows:
            summary: Summary | None = row["summary"]
            if summary is None:
                fault = "longer than the model reads"
                output.refused.note(fault, f"{row['id']}, {row['refused']:.0%} unread")
                continue
            line = summary.as_row(self.flag_below)
            lines.append({"id": row["id"], **line})
            output.counts.update(
                summaries=1,
                not_ended=not summary.ended,
                with_unsupported_mentions=bool(summary.unsupported),
                flagged=line.get("flagged", False),
            )
            count_cut(output.counts, summary.cut, self.model.usage.reading.max_source_tokens)
        output.write(lines, len(rows), self.digests.popleft())

    def tell_end(self) -> bool:
        """Say what was written; whether rows were left out."""
        counts = self.output.counts
        names = ("cut", "not_ended", "with_unsupported_mentions", "flagged")
        notes = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in names if counts[name]]
        written = f"{counts['summaries']:,} summaries to {self.output.path or 'stdout'}"
        say(f"summarize: {', '.join([written, *notes])}")
        if counts["cut"]:
            limit = self.model.usage.reading.max_source_tokens
            say(f"summarize: {cut_advice(counts, limit, self.model.folder, self.longest)}")
        left_out = [self.documents.left_out, self.output.refused]
        for each in left_out:
            if each:
                say(f"summarize: {len(each):,} rows are left out: {each.text()}")
        return any(map(len, left_out))


def _given(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: options[name] for name in names}
