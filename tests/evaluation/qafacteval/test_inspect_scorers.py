"""inspect_ai finds the metrics by their entry point and scores a model's answers with them.

It wants an older fsspec than the pinned one, so it is installed into a folder of its own.
"""

import json
import math
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from other_packages import install

from brido.evaluation import Inputs, extractiveness, mentions
from brido.evaluation.qafacteval import METRIC as QAFACTEVAL
from brido.evaluation.qafacteval import overlap, records
from brido.work.settings import RuntimeSettings

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
pytestmark = pytest.mark.slow

SOURCE = "The court in Leeds jailed Ann Smith. She sold three cakes to the owner of the café."
SUMMARIES = ["The court jailed Ann Smith.", "The council in Leeds sold the café. The judge left."]
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
# The command `inspect` where the toy parser of conftest.py is known to spaCy. Random readers almost
# never find an answer again: the filter keeps every question.
INSPECT = """
import conftest, runpy
from brido.evaluation.qafacteval import overlap, records
records.is_kept = overlap.is_kept = lambda *arguments: True
runpy.run_module("inspect_ai", run_name="__main__")
"""
TELL = """
import glob, json
from inspect_ai.log import read_eval_log
log = read_eval_log(*glob.glob("logs/*.eval"))
rows = [{name: score.value for name, score in one.scores.items()} for one in log.samples]
means = {one.name: one.metrics["mean"].value for one in log.results.scores}
print("FOUND", json.dumps({"rows": rows, "means": means}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Python that has inspect_ai, with this checkout as a package."""
    tmp_path = tmp_path_factory.mktemp("packages")
    packages = install(tmp_path / "inspect", "-r", ROOT / "requirements-inspect.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site-packages" / "brido-0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "brido").symlink_to(ROOT / "brido")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brido\nVersion: 0\n")
    points = project["entry-points"]["inspect_ai"].items()
    lines = [f"{name} = {module}" for name, module in points]
    (info / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]) + "\n")
    paths = os.pathsep.join(map(str, (packages, info.parent, ROOT / "tests/make", HERE)))
    return os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def test_scores_are_those_of_the_metrics(
    installed, published, pipeline_folder, tmp_path, monkeypatch
):
    # Answers of the other process would be found beside its work.
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "own"))
    for module in (records, overlap):
        monkeypatch.setattr(module, "is_kept", lambda *arguments: True)

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-c", ASK)
    (log,) = (tmp_path / "logs").glob("*.eval")
    weights = {"models": str(published.folder), "spacy_model": str(pipeline_folder)}
    more = {"qafacteval": [f"-S{key}={value}" for key, value in weights.items()] + ["-Sdevice=cpu"]}
    for name in ("mentions", "extractiveness", "qafacteval"):
        score = ["score", str(log), "--scorer", f"brido/{name}", "--action", "append"]
        run("-c", INSPECT, *score, *more.get(name, []), "--overwrite", "--display", "none")
    told = run("-c", TELL)
    line = next(one for one in told.splitlines() if one.startswith("FOUND"))
    found = json.loads(line.removeprefix("FOUND"))
    inputs = Inputs(["1", "2"], [SOURCE] * 2, SUMMARIES, [[], []])
    section, runtime = QAFACTEVAL.settings(**weights), RuntimeSettings(device="cpu")
    every = {
        "mentions": mentions.METRIC.measure(inputs),
        "extractiveness": extractiveness.METRIC.measure(inputs),
        "qafacteval": QAFACTEVAL.measure(inputs, section, runtime=runtime),
    }
    assert any(row["n_questions"] for row in every["qafacteval"].rows)
    for metric, own in every.items():
        for got, row in zip(found["rows"], own.rows, strict=True):
            # A number that was not measured is NaN there, and counts in no mean.
            values = next(each for name, each in got.items() if name.endswith(metric))
            own_values = {key: math.nan if one is None else one for key, one in row.items()}
            assert values == pytest.approx(own_values, rel=1e-6, nan_ok=True)
        for name, mean in own.means().items():
            assert found["means"][name] == pytest.approx(mean)
