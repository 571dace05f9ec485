"""`python -m experiments.paper` prints the commands behind the paper's tables and their cost.

The tables are a grid of two parameters for each data set: the diversity penalty (eta) at alpha 0,
and alpha at the best eta. Runs with the same eta share their candidates, which DVC makes once.
Before them: what is reproduced here, and a middle way, 1,000 documents at one alpha.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brido.settings.load import check_params, read_yaml
from brido.settings.params import Params
from brido.settings.presets import load_preset, read_preset
from brido.utils.errors import run_command
from experiments.plan import changed

# Documents that go through each of the three stages of large models.
Work = dict[str, int]

NUMBERS = Path(__file__).parent / "paper.yaml"
THROUGHPUT = Path("benchmarks/throughput.yaml")
DATASETS = ("xsum", "cnndm")
ETA = "generation.base.diversity_penalty"
ALPHA = "scoring.alpha"
MIDDLE = "xsum"
# The preset's alpha, a thousand documents of each split. BRIO's schedule belongs to
# 25,000 updates; here the highest rate is reached within a tenth of them.
CHANGES: Mapping[str, Any] = {
    "data.max_documents": 1000,
    "documents.validation": 200,
    "training.schedule": "linear",
    "training.learning_rate": 2e-5,
    "training.warmup_steps": 0.1,
    "training.validation.every": 25,
    "training.validation.documents": 100,
}
FIRST_LINES = f"""\
# Reproduced here: the method, rule by rule (docs/method.md), and what it does in the
# embedded world (docs/results.md). Not reproduced: the paper's Tables 1-4. Its weights
# and data sets are on the hub; these are the commands for a machine that reaches it.

# The middle way, before any grid: {MIDDLE}, 1,000 documents of each split, one alpha.
# It shows a direction, not the table: 125 updates of the paper's 25,505, hence another schedule.
make preset NAME={MIDDLE}"""
LAST_LINES = """\
# Every text is as long as the preset allows, so these hours are upper bounds.
# Rates of your device for benchmarks/throughput.yaml: python -m benchmarks.throughput
# pairwise and score run on the CPU in minutes. The paper's QAFactEval and G-Eval come on
# top, with a GPU and a server that answers: to every line above
#   -S 'evaluation.metrics=[rouge,mentions,extractiveness,qafacteval,geval]'
#   -S '+evaluation.qafacteval.models=hub'
#   -S '+evaluation.geval.model=NAME' (what it costs: brido geval FILE -S model=NAME --dry-run)
# After make preset experiments.paper_tables has the paper's own numbers beside yours."""


def paper_runs(dataset: str) -> dict[str, dict[str, float]]:
    """The tuned models of the tables of "xsum" or "cnndm": name -> changed keys of params.yaml."""
    runs = read_yaml(NUMBERS)[dataset]["runs"]
    return {name: {ETA: eta, ALPHA: alpha} for name, (eta, alpha, *_) in runs.items()}


def commands(name: str) -> list[str]:
    """The shell commands of a data set's rows, in the order of the paper's tables."""
    lines = [f"make preset NAME={name}", "dvc repro"]
    return [*lines, *(_run(run, changes) for run, changes in paper_runs(name).items())]


def _run(name: str, changes: Mapping[str, Any]) -> str:
    options = [
        f"-S {key}={value:g}" if isinstance(value, float) else f"-S {key}={value}"
        for key, value in changes.items()
    ]
    return " ".join([f"dvc exp run -n {name}", *options])


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
    that every tuned model, base and BRIO decode. Training counts every epoch; decoding counts the
    documents decoded to validate while training as well.
    """
    training, documents = params.training, generated[0]
    updates = training.epochs * documents // training.batch_size
    checks = updates // training.validation.every * training.validation.documents
    systems = runs + 1 + len(params.variants)
    return {
        "generate": etas * sum(generated),
        "train": runs * training.epochs * documents,
        "decode": systems * decoded + runs * checks,
    }


def middle_settings() -> Params:
    """The preset's settings with the changes of the middle way."""
    return check_params(changed(read_preset(MIDDLE), CHANGES, "the middle way"))


def cost(work: Work, rates: Mapping[str, float | None]) -> list[str]:
    """Device hours of each stage and together, as lines; rates are documents a second."""
    lines, total = [], 0.0
    for stage, documents in work.items():
        rate = rates.get(stage)
        hours = documents / rate / 3600 if rate else math.nan
        shown = f"{hours:10,.1f} hours" if rate else "not measured"
        lines.append(f"#   {stage:<9} {documents:>9,} documents  {shown}")
        total += hours
    together = f"#   together {total:,.1f} hours on this device"
    return lines if math.isnan(total) else [*lines, together]


def report(throughput: dict[str, Any]) -> str:
    """The middle way, then commands and costs of both data sets, as text."""
    device, source = throughput["device"], throughput["source"]
    rates = f"# The device: {device}; rates from {source} ({THROUGHPUT})."
    middle = cost(middle_work(middle_settings()), throughput[MIDDLE])
    parts = [rates if device else f"# The device: none, {THROUGHPUT} has no rates", FIRST_LINES]
    parts += [_run("middle", CHANGES), *middle, "", "# The whole grids", ""]
    for name in DATASETS:
        params = load_preset(name)
        parts += [f"# {name}: {len(paper_runs(name))} tuned models", *commands(name)]
        parts += ["python -m experiments.paper_tables", ""]
        parts += [*cost(work_of(name, params), throughput[name]), ""]
    return "\n".join([*parts, LAST_LINES])


def main() -> None:
    """Print the commands and their cost."""
    print(report(read_yaml(THROUGHPUT)))


if __name__ == "__main__":
    run_command(main)
