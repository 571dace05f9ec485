"""`python -m experiments.paper` prints the commands behind the paper's tables and what they cost.

The tables are a grid of two parameters per data set: the diversity penalty (eta) at alpha 0, and
alpha at the best eta. Runs that share eta share their candidates, which DVC computes once. Before
the grid stands a middle way: 1,000 documents at one alpha, whose hours are reckoned.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from brido.config import check_params, load_params, read_yaml
from brido.errors import run_command
from brido.settings import Params
from experiments.preset import PRESETS

THROUGHPUT = Path("benchmarks/throughput.yaml")
DATASETS = ("xsum", "cnndm")
# The rows of the tables, each with the keys of params.yaml that it changes.
EXPERIMENTS = Path("experiments")


# The middle way: XSum, the preset's alpha, a thousand documents of each split, without brio. BRIO's
# schedule belongs to 25,000 updates; here its highest rate is reached within a tenth of them.
MIDDLE = "xsum"
MIDDLE_CHANGES = (
    "data.max_documents=1000",
    "documents.validation=200",
    "training.schedule=linear",
    "training.learning_rate=2e-5",
    "training.warmup_steps=0.1",
    "training.validation.every=25",
    "training.validation.documents=100",
    "systems=[reference,base,tuned]",
    "decoded_systems=[base,tuned]",
    "~checkpoints.brio",
)
# Nobody measured a GPU here: PEGASUS-large's weights that a token passes (16 layers, d_model 1,024,
# vocabulary 96,103), two operations each, against useful operations a second.
GPU = "NVIDIA A100 (312 TFLOP/s in bfloat16 named)"
TRAINING_RATE = 0.3 * 312e12
WRITING_RATE = 0.05 * 312e12  # token by token a GPU waits for its memory
_ENCODER, _DECODER = 201e6, 367e6


@dataclass(frozen=True)
class Work:
    """Documents that go through the three stages of large models, for one whole grid."""

    generate: int
    train: int
    decode: int


def runs_of(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a data set: name of the run -> changed keys of params.yaml."""
    return read_yaml(EXPERIMENTS / f"paper-{name}.yaml")["runs"]


def commands(name: str) -> list[str]:
    """The shell commands of a data set's rows, in the order of the paper's tables."""
    lines = [f"make preset NAME={name}", "dvc repro"]
    for run, changes in runs_of(name).items():
        options = " ".join(f"-S {shlex.quote(change)}" for change in MIDDLE_CHANGES)
    raw = read_yaml(PRESETS / f"{MIDDLE}.yaml")
    del raw["checkpoints"]["brio"]
    for change in MIDDLE_CHANGES:
        key, _, value = change.partition("=")
        if value:
            *sections, name = key.split(".")
            place = raw
            for section in sections:
                place = place[section]
            place[name] = YAML(typ="safe").load(value)
    minutes = {stage: 60 * value for stage, value in middle_hours(check_params(raw)).items()}
    listed = ", ".join(f"{stage} {value:.0f}" for stage, value in minutes.items())
    return [
        "# Reproduced here: the method, rule by rule (docs/method.md), and what it does in the",
        "# embedded world (docs/results.md). Not reproduced: the paper's Tables 1-4. Its weights and",
        "# data sets are on the hub; these are the commands for a machine that reaches it.",
        "",
        f"# The middle way, before any grid: {MIDDLE}, 1,000 documents of each split, one alpha",
        f"make preset NAME={MIDDLE}",
        f"dvc exp run -n middle {options}",
        f"#   {sum(minutes.values()):.0f} minutes of computing on one {GPU}:",
        f"#   {listed}. Reckoned from operations, at 30 % of that when training and 5 % when",
        "#   writing, not measured: up to ten times as long, and 3 GB to fetch. It shows a",
        "#   direction, not the table: 125 updates of the paper's 25,505.",
        "",
        "# The whole grids",
        "",
    ]


def hours_of(work: Work, rates: dict[str, float | None]) -> dict[str, float | None]:
    """Device hours of each stage, None where its rate (documents a second) was not measured."""
    return {
        stage: getattr(work, stage) / rate / 3600 if (rate := rates.get(stage)) else None
        for stage in ("generate", "train", "decode")
    }


def report(throughput: dict[str, Any]) -> str:
    """The first screen, then commands and costs of both data sets, as text."""
    parts = [_device(throughput), *middle()]
    for name in DATASETS:
        work = work_of(name, load_params(PRESETS / f"{name}.yaml"))
        hours = hours_of(work, throughput[name])
        parts += [f"# {name}: {len(runs_of(name))} tuned models", *commands(name)]
        parts.append(
            f"# or all, resumable: python -m experiments.run {EXPERIMENTS}/paper-{name}.yaml"
        )
        parts += ["python -m experiments.paper_tables", ""]
        for stage, value in hours.items():
            cost = "not measured" if value is None else f"{value:10,.1f} hours"
            parts.append(f"#   {stage:<9} {getattr(work, stage):>9,} documents  {cost}")
        measured = [value for value in hours.values() if value is not None]
        if len(measured) == len(hours):
            parts.append(f"#   together {sum(measured):,.1f} hours on one device")
        parts.append("")
    parts += [
        "# Every text is as long as the preset allows, so these hours are upper bounds.",
        "# Rates of your device: python -m benchmarks.throughput --write",
        "# pairwise and score run on the CPU in minutes; qafacteval and geval come on top.",
    ]
    return "\n".join(parts)


def _device(throughput: dict[str, Any]) -> str:
    """The first line: what the hours of the grids were measured on."""
    device, source = throughput["device"], throughput["source"]
    if device and source:
        return f"# The device: {device}; rates from {source} ({THROUGHPUT})."
    return f"# The device: none, {THROUGHPUT} has no rates: python -m benchmarks.throughput --write"


def main() -> None:
    """Print the commands and their cost."""
    print(report(read_yaml(THROUGHPUT)))


if __name__ == "__main__":
    run_command(main)
