"""A run of `brido summarize`: documents in, a line for each out."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any

from brido.cli.candidates import told_when_compiling
from brido.cli.shared import prompt_pieces
from brido.cli.summarize.documents import GivenDocuments
from brido.cli.summarize.long import count_cut, cut_advice
from brido.cli.summarize.output import FileOutput, Output, check_place
from brido.cli.summarize.project import ChosenModel, find_model, runtime_for, tell
from brido.summarizer.model import check_beams, writing_of
from brido.summarizer.summary import Summary
from brido.summarizer.writer import Named, SummaryWriter, chunks
from brido.utils.errors import BridoError
from brido.utils.outputs import STDOUT
from brido.utils.progress import Progress, say
from brido.work.running import run_stream
from brido.work.shards import fingerprint
from brido.work.worker import model_workers


def summarize(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Write all lines, and say what was written; exit code 1 where rows are left out."""
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
        check_place(options["output"], options["resume"], options["force"])
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
        path = options["output"]
        if path is not None and path != STDOUT:
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
