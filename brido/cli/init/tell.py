"""What `brido init` prints: documents, model, plan, and what is measured."""

from collections.abc import Mapping, Sequence
from textwrap import fill, indent, shorten

import click
import torch

from brido.candidates.documents import MANY_CUT
from brido.checkers.mentions import speakers_of
from brido.checkers.seeing import table_of
from brido.cli.init.checks import is_at_hand
from brido.cli.init.data import Data
from brido.cli.init.found import Found
from brido.cli.init.plan import RANGE, Plan
from brido.cli.init.room import Room
from brido.evaluation.mentions import METRIC
from brido.evaluation.planted import metric_sensitivity
from brido.report.seen import blind, seen_line
from brido.report.summary import aligned
from brido.stats import FEWEST

# As many of the user's summaries say what a check sees; so many letters of a text are shown.
_LOOKED_AT, _SHOWN = 200, 160
# What decides how much of a document is read.
_MORE = "reading.default.max_source_tokens"
# A judge at home, as a line to copy: Ollama, llama-server and vLLM speak the same language.
_JUDGE = (
    "brido sensitivity geval FILE --dry-run -S model=NAME -S base_url=http://localhost:11434/v1"
)


def tell_data(found: Found) -> None:
    """Print what the files hold, and what may be wrong with it."""
    data, counts, most = found.data, found.lengths, found.source_tokens
    cut = sum(count > most for count in counts) / len(counts)
    read = sum(min(count, most) for count in counts) / max(sum(counts), 1)
    columns = [data.files[f"{name}_column"] for name in ("document", "summary")]
    _heading("Your documents")
    rows = {
        "documents": ", ".join(f"{name} {count:,}" for name, count in data.documents.items()),
        "columns": f"documents in {columns[0]}, summaries in {columns[1] or 'none'}",
        "read": f"up to {most:,} tokens; {cut:.0%} of them are cut there ({_MORE})",
    }
    for name, texts in (("a document", data.texts), ("a summary", data.summaries)):
        if texts:  # control characters stay out of the terminal
            rows[name] = "".join(filter(str.isprintable, shorten(texts[0], _SHOWN)))
    if data.repeats:
        rows["references"] = f"{data.repeats:,} rows repeat a document, and are references of it"
    _tell_rows(rows)
    for text in data.warnings:
        _warn(text)
    if cut > MANY_CUT:
        longer = found.more_tokens
        more = f"{_MORE}: {longer} reads more, with more memory and time"
        _warn(
            f"{cut:.0%} of the documents are longer than what is read: only {read:.0%} of all text "
            "is read, and what a summary says of the rest is made up. "
            f"{more if longer > most else 'This model reads no more (--model)'}"
        )


def tell_plan(
    found: Found, plan: Plan, room: Room, minutes: float, where: str, rival: Sequence[str] | None
) -> None:
    """Print the size of the run and how long it takes; where: `cd` to the project."""
    _heading(f"The run: {duration(plan.seconds)}")
    click.echo(f"  {where}dvc repro")
    model, (chosen, measured) = found.model, plan.evaluated_of(found)
    size = f"{model.parameters / 1e6:,.0f} million weights, presets/{model.preset}.yaml"
    rows = {"base": f"{model.source} ({size})"}
    if plan.references:
        times = f", {plan.epochs} times" if plan.epochs > 1 else ""
        rows["learns"] = f"from {plan.references:,} references first{times}"
    if plan.tuned:
        rows["candidates"] = (
            f"{plan.candidates} of each of {plan.train:,} training and {plan.looked_at:,} "
            "validation documents; they vote"
        )
        rows["tuned"] = f"{', '.join(plan.tuned)} (control: the same scores, shuffled)"
    rows["untrained"] = ", ".join(plan.variants)
    if rival:
        rows["rival"] = (
            f"chat: {rival[1]} at {rival[0]}, asked about {chosen + measured:,} documents (see "
            "runtime.endpoints.chat: api_key_env, and dry_run, which tells the cost)"
        )
    most = f"up to {_gigabytes(room.memory + (room.batch or 0))} of memory"
    rows["takes"] = (
        f"{_gigabytes(room.disk)} of disk, {most}{' and that of a batch' * (room.batch is None)}"
    )
    rows["verdict"] = f"chosen on {chosen:,} validation documents, measured on {measured:,} of test"
    planned = {*plan.tuned, *plan.variants}
    if left_out := [
        name for name in (*found.recipe["tuned"], *found.recipe["variants"]) if name not in planned
    ]:
        rows["left out"] = f"for time (--minutes {minutes:g}): {', '.join(left_out)}"
    _tell_rows(rows)
    if room.runtime:
        keys = ", ".join(f"runtime.{key} {value}" for key, value in room.runtime.items())
        _warn(f"{_gigabytes(room.free)} of memory are free: smaller parts of a batch ({keys})")
    if room.disk > room.free_disk:
        _warn(f"only {_gigabytes(room.free_disk)} of disk are free")
    if plan.seconds * RANGE[1] > 60 * minutes:
        _warn(
            f"even the smallest run may take more than {minutes:g} minutes: take a GPU, a smaller "
            "--model, shorter documents, or more --minutes"
        )
    if model.learns_first and not found.data.summaries:
        _warn(
            "a small model that learns from no summaries writes too badly for a verdict: name a "
            "larger one (--model)"
        )


def tell_check(data: Data, check: str, minutes: float) -> None:
    """Print which check decides, what others would take, and what the free one sees.

    minutes: of MiniCheck for this run.
    """
    _heading("What is measured")
    away = "" if is_at_hand() else "; its weights are not in the hub's cache (--check FOLDER)"
    _tell_rows({
        "good": f"whole, and supported by the document, as {check} decides (--check)",
        "mentions": "free: looks names and numbers up, and does not see who did what",
        "minicheck": "a model of .4 to .8 billion weights that reads the document: about "
        f"{max(1, round(minutes)):,} min here{away}",
        "geval": "a language model behind a server, your own too; what it would take:",
    })  # fmt: skip
    click.echo(f"{' ' * 13}{_JUDGE}")
    documents, references = data.texts[:_LOOKED_AT], data.summaries[:_LOOKED_AT]
    if check == "mentions" and 2 * sum(map(bool, map(speakers_of, documents))) > len(documents):
        _warn(
            "these documents are dialogues, and mentions does not see who said what: decide by one "
            "that reads (--check minicheck)"
        )
    if len(documents) < FEWEST or len(data.texts) != len(data.summaries):
        return
    found = {"mentions": metric_sensitivity(METRIC, documents, references)}
    click.echo("\n  One error at a time, planted in your own summaries:")
    click.echo(indent(aligned(table_of(found)), "  "))
    line = str(seen_line(found, "mentions"))
    _warn(line) if blind(found["mentions"]) else _tell_rows({"mentions": line})


def duration(seconds: float) -> str:
    """A range of minutes or hours in words, with what it rests on."""
    place = "this GPU" if torch.cuda.is_available() else f"{torch.get_num_threads()} free cores"
    low, high = (max(1.0, seconds / 60 * factor) for factor in RANGE)
    if high <= 120:
        return f"{round(low)} to {max(2, round(high))} minutes on {place}"
    return f"{low / 60:.1f} to {high / 60:.1f} hours on {place}"


def _gigabytes(count: float) -> str:
    return f"{max(count / 1e9, 0.1):.1f} GB"


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def _tell_rows(rows: Mapping[str, str]) -> None:
    for name, text in rows.items():
        click.echo(fill(text, 100, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13))


def _warn(text: str) -> None:
    click.echo(f"  {click.style('warning:', fg='yellow')} {text}")
