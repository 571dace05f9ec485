"""`python -m experiments.paper` prints the commands behind the paper's tables and their cost.

The tables are a grid of two parameters for each data set: the diversity penalty (eta) at alpha 0,
and alpha at the best eta. Runs with the same eta share their candidates, which DVC makes once.
Before them: what is reproduced here, and a middle way, 1,000 documents at one alpha.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from brido.settings.load import check_params, read_yaml
from brido.settings.params import Params
from brido.settings.presets import load_preset, read_preset
from brido.utils.errors import run_command
from experiments.grid import FOLDER
from experiments.paper_layouts import ETA, paper_runs

THROUGHPUT = Path("benchmarks/throughput.yaml")
DATASETS = ("xsum", "cnndm")
MIDDLE = "xsum"
# The preset's alpha, a thousand documents of each split, without brio. BRIO's schedule belongs to
# 25,000 updates; here the highest rate is reached within a tenth of them.
CHANGES = (
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


@dataclass(frozen=True)
class Work:
    """Documents that go through the three stages of large models."""

    generate: int
    train: int
    decode: int


def commands(name: str) -> list[str]:
    """The shell commands of a data set's rows, in the order of the paper's tables."""
    lines = [f"make preset NAME={name}", "dvc repro"]
    for run, changes in paper_runs(name).items():
        options = " ".join(f"-S {key}={_text(value)}" for key, value in changes.items())
        lines.append(f"dvc exp run -n {run} {options}")
    return lines


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def work_of(name: str, params: Params) -> Work:
    """How many documents the grid of a data set generates for, trains on and decodes."""
    rows = params.data.hub.expected_rows
    if rows is None:
        raise ValueError(f"{name}: expected_rows is needed to count documents")
    runs = list(paper_runs(name).values())
    # Candidates depend on eta alone; runs that share it share them.
    etas = len({run[ETA] for run in runs})
    splits = (rows.train, params.documents.validation or rows.validation)
    return _work(params, len(runs), etas, splits, rows.validation + rows.test)


def middle_work(params: Params) -> Work:
    """The documents of the middle way."""
    count = params.data.max_documents
    return _work(params, 1, 1, (count, params.documents.validation), 2 * count)


def _work(params: Params, runs: int, etas: int, generated: tuple[int, int], decoded: int) -> Work:
    """The documents of some tuned models.

    generated: train and validation documents that get candidates for each eta. decoded: documents
    that every tuned model, base and brio decode. Training counts every epoch; decoding counts the
    documents decoded to validate while training as well.
    """
    training, documents = params.training, generated[0]
    updates = training.epochs * documents // training.batch_size
    checks = updates // training.validation.every * training.validation.documents
    systems = runs + len(params.decoded_systems) - 1
    return Work(
        generate=etas * sum(generated),
        train=runs * training.epochs * documents,
        decode=systems * decoded + runs * checks,
    )


def middle_settings() -> Params:
    """The preset's settings with the changes of the middle way."""
    raw = read_preset(MIDDLE)
    for change in CHANGES:
        key, _, value = change.partition("=")
        *sections, name = key.lstrip("~").split(".")
        place = raw
        for section in sections:
            place = place[section]
        if value:
            place[name] = YAML(typ="safe").load(value)
        else:
            del place[name]
    return check_params(raw)


def first_screen(device: str | None, hours: Mapping[str, float | None]) -> list[str]:
    """What is reproduced here and what is not, then the middle way.

    hours: of each stage's documents on `device`, None if not measured.
    """
    options = " ".join(f"-S {shlex.quote(change)}" for change in CHANGES)
    cost = ["#   not measured on this device"]
    minutes = {stage: 60 * value for stage, value in hours.items() if value is not None}
    if len(minutes) == len(hours):
        listed = ", ".join(f"{stage} {value:.0f}" for stage, value in minutes.items())
        cost = [
            f"#   {sum(minutes.values()):.0f} minutes of computing on one {device}",
            f"#   ({listed}; measured, every text as long as it may be), and 3 GB to fetch.",
        ]
    return [
        "# Reproduced here: the method, rule by rule (docs/method.md), and what it does in the",
        "# embedded world (docs/results.md). Not reproduced: the paper's Tables 1-4. Its weights",
        "# and data sets are on the hub; these are the commands for a machine that reaches it.",
        "",
        f"# The middle way, before any grid: {MIDDLE}, 1,000 documents of each split, one alpha",
        f"make preset NAME={MIDDLE}",
        f"dvc exp run -n middle {options}",
        *cost,
        "#   It shows a direction, not the table: 125 updates of the paper's 25,505, hence",
        "#   another schedule.",
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
    taken = hours_of(middle_work(middle_settings()), throughput[MIDDLE])
    parts = [_device(throughput), *first_screen(throughput["device"], taken)]
    for name in DATASETS:
        params = load_preset(name)
        work = work_of(name, params)
        hours = hours_of(work, throughput[name])
        parts += [f"# {name}: {len(paper_runs(name))} tuned models", *commands(name)]
        parts.append(f"# or all, resumable: python -m experiments.sweep {FOLDER}/paper-{name}.yaml")
        parts += ["python -m experiments.paper_tables", ""]
        for stage, value in hours.items():
            cost = "not measured" if value is None else f"{value:10,.1f} hours"
            parts.append(f"#   {stage:<9} {getattr(work, stage):>9,} documents  {cost}")
        measured = [value for value in hours.values() if value is not None]
        if len(measured) == len(hours):
            parts.append(f"#   together {sum(measured):,.1f} hours on this device")
        parts.append("")
    parts += [
        "# Every text is as long as the preset allows, so these hours are upper bounds.",
        "# Rates of your device: python -m benchmarks.throughput --write",
        "# pairwise and score run on the CPU in minutes. The paper's QAFactEval and G-Eval come on",
        "# top, with a GPU and a server that answers: to every line above",
        "#   -S 'evaluation.metrics=[rouge,mentions,extractiveness,qafacteval,geval]'",
        "#   -S '+evaluation.qafacteval.models=hub'",
        "#   -S '+evaluation.geval.model=NAME' (what it costs: brido judge FILE --dry-run)",
        "# After make preset experiments.paper_tables has the paper's own numbers beside yours.",
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
