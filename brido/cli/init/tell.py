"""What `brido init` prints: documents, model, plan, and what is measured."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import click
import torch

from brido.candidates.documents import MANY_CUT
from brido.checkers.mentions import speakers_of
from brido.checkers.seeing import table_of
from brido.cli.init.checks import ChosenCheck
from brido.cli.init.data import Data
from brido.cli.init.doubts import example
from brido.cli.init.limits import Limits
from brido.cli.init.model import Model, another_model
from brido.cli.init.plan import RANGE, Plan, Recipe
from brido.cli.init.room import Room
from brido.evaluation.mentions import METRIC
from brido.evaluation.planted import metric_sensitivity
from brido.report.seen import blind, seen_line
from brido.report.summary import aligned
from brido.stats import FEWEST

# As many of the user's summaries say what a check sees.
LOOKED_AT = 200
# What decides how much of a document is read.
MORE = "reading.default.max_source_tokens"
# A judge at home, as a line to copy: Ollama, llama-server and vLLM speak the same language.
_JUDGE = (
    "brido sensitivity geval FILE --dry-run -S model=NAME -S base_url=http://localhost:11434/v1"
)


def tell_data(data: Data, model: Model, limits: Limits) -> None:
    """Print what the files hold, and what may be wrong with it."""
    files, read = data.files, limits.documents
    counts = model.count(data.texts)
    cut = sum(count > limits.source_tokens for count in counts) / len(counts)
    seen = sum(min(count, limits.source_tokens) for count in counts) / max(sum(counts), 1)
    counted = "estimated from words" if model.form == "embedded" else "the model's"
    rows = {
        "documents": ", ".join(f"{name} {count:,}" for name, count in data.documents.items()),
        "columns": f"documents in {files['document_column']}, summaries in {_columns(files)}",
        "length": f"half have up to {read.half:,} tokens, 19 in 20 up to {read.most:,} ({counted})",
        "read": f"up to {limits.source_tokens:,} tokens; {cut:.0%} of them are cut there ({MORE})",
    }
    if data.repeats:
        rows["references"] = f"{data.repeats:,} rows repeat a document, and are references of it"
    _heading("Your documents")
    for name, text in rows.items():
        click.echo(f"  {name:<11}{text}")
    for name, text in example(data.texts, data.summaries).items():
        click.echo(f"  a {name}: {text}")
    for text in (*data.doubts, *(f"left out: {text}" for text in data.bad)):
        _warn(text)
    if cut > MANY_CUT:
        more = limits.more_tokens
        way = (
            f"{MORE}: {more} reads more, with more memory and time"
            if more > limits.source_tokens
            else "This model reads no more: name one that does (--model)"
        )
        _warn(
            f"{cut:.0%} of the documents are longer than what is read, {limits.source_tokens:,} "
            f"tokens: only {seen:.0%} of all text is read, and what a summary says of the rest is "
            f"made up. {way}, or shorten the documents"
        )


def _columns(files: Mapping[str, Any]) -> str:
    named = files["summary_column"]
    columns = ", ".join([named] if isinstance(named, str) else named or ["none"])
    others = files.get("references_column")
    return f"{columns}, further references in {others}" if others else columns


def tell_plan(
    data: Data, model: Model, plan: Plan, recipe: Recipe, minutes: float, folder: Path | None,
    room: Room,
) -> None:  # fmt: skip
    """Print the model, the size of the run, and how long it takes."""
    _heading("The model")
    click.echo(f"  model      {model.source}, {model.parameters / 1e6:,.0f} million weights")
    click.echo(f"  settings   presets/{model.preset}.yaml")
    if model.form == "embedded":
        _warn(
            "a model that learns from so little shows the pipeline, but writes too badly for a "
            f"verdict. One that can: {another_model()}"
        )
    elif model.learns_first and not data.summaries:
        _warn(
            "there are no summaries to learn from first, and a model this small often repeats a "
            "text, or writes about it: add some summaries, or name a larger --model"
        )
    _heading(f"The run: {duration(plan.seconds, model)}")
    click.echo(f"  {f'cd {folder} && ' if folder else ''}dvc repro")
    _tell_run(data, model, plan)
    _tell_room(room)
    left_out = [name for name in (*recipe.tuned, *recipe.variants)
                if name not in (*plan.tuned, *plan.variants)]  # fmt: skip
    if left_out:
        click.echo(f"  left out for time (--minutes {minutes:g}): {', '.join(left_out)}")
    if plan.seconds and plan.seconds * RANGE[1] > 60 * minutes:
        _warn(
            f"even the smallest run may take more than {minutes:g} minutes. It would be shorter "
            "with a GPU, a smaller --model or shorter documents; or allow more --minutes"
        )


def tell_rival(data: Data, plan: Plan, address: str, model: str) -> None:
    """Print what a chat model behind a server is asked."""
    count = sum(min(plan.evaluated, data.documents[split]) for split in ("validation", "test"))
    click.echo(
        f"  beside them chat: {model} at {address}, asked once about each of {count:,} documents "
        "(a key: runtime.endpoints.chat.api_key_env)\n"
        "  `dvc repro vary@chat` asks; with runtime.endpoints.chat.dry_run: true it tells the cost"
    )


def tell_checks(data: Data, check: ChosenCheck) -> None:
    """Print which check decides, what others would take, and what the free one sees."""
    _heading("What is measured")
    reads = check.name == "minicheck"
    click.echo(
        "  Good summaries are whole, and their document supports them. What decides that, on "
        f"validation documents: {check.name}{', while mentions measures' if reads else ''}."
    )
    where = "" if check.at_hand else "; its weights are not at hand here: --check FOLDER"
    rows = {
        "mentions": "free: looks names and numbers up, and does not see who did what",
        "minicheck": f"a model of .4 to .8 billion weights that reads the document: about "
        f"{max(1, round(check.minutes)):,} minutes here{where}",
        "geval": "a language model behind a server, your own too; what it would take:",
    }
    for name, text in rows.items():
        click.echo(fill(text, 96, initial_indent=f"    {name:<10} ", subsequent_indent=" " * 15))
    click.echo(f"{' ' * 15}{_JUDGE}")
    if not reads and any(map(speakers_of, data.texts[:LOOKED_AT])):
        _warn(
            "these documents are dialogues, and mentions does not see who said what: decide by one "
            "that reads (--check minicheck)"
        )
    _tell_sensitivity(data)


def _tell_sensitivity(data: Data) -> None:
    """Print what metric mentions sees in the user's own summaries, where each document has one."""
    documents, references = data.texts[:LOOKED_AT], data.summaries[:LOOKED_AT]
    if len(documents) < FEWEST or len(data.texts) != len(data.summaries):
        return
    found = {"mentions": metric_sensitivity(METRIC, documents, references)}
    click.echo("\n  One error at a time, planted in your own summaries:")
    click.echo(indent(aligned(table_of(found)), "  "))
    line = str(seen_line(found, "mentions"))
    if blind(found["mentions"]):
        _warn(line)
    else:
        click.echo(fill(line, 96, initial_indent="  ", subsequent_indent="  "))


def _tell_run(data: Data, model: Model, plan: Plan) -> None:
    """Print what the run does, in order."""
    if plan.references:
        every = "all " * (plan.references == data.documents["train"])
        times = f", {plan.epochs} times" if plan.epochs > 1 else ""
        how = ", from scratch" if model.form == "embedded" else times
        click.echo(f"  base first learns from {every}{plan.references:,} references{how}")
    chosen, measured = (
        min(plan.evaluated, data.documents[split]) for split in ("validation", "test")
    )
    if plan.tuned:
        click.echo(
            f"  it writes {plan.candidates} candidates of each of {plan.train:,} training and "
            f"{plan.looked_at:,} validation documents; they vote\n"
            f"  tuned on them: {', '.join(plan.tuned)} (control: the same scores, shuffled)"
        )
    else:
        learns = "fine-tuning and " if plan.references else ""
        click.echo(f"  in this time only {learns}`checked`: no vote is paid for")
    if plan.variants:
        click.echo(f"  without training: {', '.join(plan.variants)}")
    click.echo(
        f"  the best of them is chosen on {chosen:,} validation documents and measured on "
        f"{measured:,} test documents\n"
        "  the verdict stands at the end, and in report/index.html"
    )


def _tell_room(room: Room) -> None:
    """Print the memory and disk of the run, and what is set because there is less."""
    memory = "" if room.memory is None else f"up to {room.memory / 1e9:.1f} GB of memory and "
    click.echo(f"  it takes {memory}{max(room.disk / 1e9, 0.1):.1f} GB of disk")
    if room.runtime:
        keys = ", ".join(f"runtime.{key} {value}" for key, value in room.runtime.items())
        _warn(f"{room.free / 1e9:.1f} GB of memory are free: smaller parts of a batch ({keys})")
    if room.disk > room.free_disk:
        _warn(f"only {room.free_disk / 1e9:.1f} GB of disk are free")


def duration(seconds: float | None, model: Model) -> str:
    """A range of minutes or hours in words, with what it rests on."""
    if seconds is None:
        short = "some minutes" if model.form == "embedded" else "how long is not known"
        return f"{short} (the speed of this model was not measured)"
    cores = torch.get_num_threads()
    place = "1 core that does nothing else" if cores == 1 else f"{cores} cores that do nothing else"
    if torch.cuda.is_available():
        place = "this GPU"
    low, high = (max(1.0, seconds / 60 * factor) for factor in RANGE)
    if high <= 120:
        return f"{round(low)} to {max(2, round(high))} minutes on {place}"
    return f"{low / 60:.1f} to {high / 60:.1f} hours on {place}"


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def _warn(text: str) -> None:
    click.echo(f"  {click.style('warning:', fg='yellow')} {text}")
