"""inspect_ai finds the metrics by their entry point and scores a model's answers with them."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from brido.evaluation import Inputs, extractiveness, mentions

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason='needs `pip install ".[inspect]"`')

SOURCE = "Ms Morlow, aged 79, was at the wheel near Welton."
SUMMARIES = ["Ms Morlow died near Colford.", "she was at the wheel near it"]
# One sample has its source in the metadata, the other as its input.
# Without a model: counting a mock model's tokens needs a network.
ASK = f"""
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver

@solver
def answer():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", {SUMMARIES!r}[state.sample_id - 1])
        return state
    return solve

first = Sample(input="Summarise.", metadata={{"document": {SOURCE!r}}})
task = Task(dataset=[first, Sample(input={SOURCE!r})], solver=answer())
(log,) = eval(task, model="mockllm/model", display="none", log_dir="logs")
assert log.status == "success", log.error
"""
TELL = """
import glob, json
from inspect_ai.log import read_eval_log
log = read_eval_log(*glob.glob("logs/*.eval"))
rows = [{name: score.value for name, score in one.scores.items()} for one in log.samples]
means = {one.name: one.metrics["mean"].value for one in log.results.scores}
print("FOUND", json.dumps({"rows": rows, "means": means}))
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python for which this checkout is an installed package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site-packages" / "brido-0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "brido").symlink_to(ROOT / "brido")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brido\nVersion: 0\n")
    points = project["entry-points"]["inspect_ai"].items()
    lines = [f"{name} = {module}" for name, module in points]
    (info / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]) + "\n")
    return os.environ | {"PYTHONPATH": str(info.parent), "OMP_NUM_THREADS": "1"}


def test_scores_are_those_of_the_metrics(installed, tmp_path):
    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-c", ASK)
    (log,) = (tmp_path / "logs").glob("*.eval")
    for name in ("mentions", "extractiveness"):
        score = ["score", str(log), "--scorer", f"brido/{name}", "--action", "append"]
        run("-m", "inspect_ai", *score, "--overwrite", "--display", "none")
    told = run("-c", TELL)
    line = next(one for one in told.splitlines() if one.startswith("FOUND"))
    found = json.loads(line.removeprefix("FOUND"))
    inputs = Inputs(["1", "2"], [SOURCE] * 2, SUMMARIES, [[], []])
    for metric in (mentions.METRIC, extractiveness.METRIC):
        own = metric.measure(inputs)
        for got, row in zip(found["rows"], own.rows, strict=True):
            # A number that was not measured is NaN there, and counts in no mean.
            values = next(each for name, each in got.items() if name.endswith(metric.name))
            assert {k: None if v != v else v for k, v in values.items()} == row
        for name, mean in own.means().items():
            assert found["means"][name] == pytest.approx(mean)
