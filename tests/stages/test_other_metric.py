"""A metric of another package, installed beside BRIDO: named in params.yaml, it is measured and
shown like any other, without a line of BRIDO changed."""

import json
import os
from pathlib import Path

import pytest
import synthetic_run

from brido.tables import read_metadata, read_rows

ROOT = Path(__file__).parents[2]
MODULE = """
from brido.evaluation import Evaluation, Metric, share
from brido.utils.sections import Section


class ShoutingSettings(Section):
    sign: str = "!"


def evaluate(inputs, settings, progress):
    with progress("shouting", len(inputs.ids), "documents"):
        rows = [{"loud": float(settings.sign in text)} for text in inputs.summaries]
    return Evaluation(rows, [{} for _ in rows], {"implementation": "shouting 1.0"})


METRIC = Metric(
    name="shouting",
    label="Shouting",
    columns=(share("loud", "loud summaries", better="lower", headline=True),),
    evaluate=evaluate,
    settings=ShoutingSettings,
)
"""
# The stage for every system, in one process.
MEASURE = """
import sys
from brido.settings.load import load_params
from stages.evaluate import evaluate
if __name__ == "__main__":
    for system in sys.argv[1:]:
        evaluate(load_params(), system)
"""


@pytest.fixture
def project(tmp_path):
    """A finished run whose params name the metric, and a folder as pip leaves it: the module and
    what the package says of itself."""
    synthetic_run.write_run(tmp_path, documents=6, count=4)
    installed = tmp_path / "installed"
    about = installed / "shouting-1.0.dist-info"
    about.mkdir(parents=True)
    (installed / "shouting.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[brido.metrics]\nshouting = shouting:METRIC\n")
    write_params(tmp_path, {"sign": ","})
    return tmp_path


def write_params(folder, section):
    beams = {"num_candidates": 4, "num_beams": 4, "num_beam_groups": 4}
    synthetic_run.write_params(
        folder,
        evaluation={"metrics": ["mentions", "shouting"], "shouting": section},
        choice={"rouge_loss": None},
        generation={"base": {"checkpoint": "base"} | beams},
    )


def test_it_is_measured_and_shown_like_any_other(project, run_stage):
    variables = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(project / "installed")])}
    (project / "measure.py").write_text(MEASURE)
    done = run_stage("measure", *synthetic_run.SYSTEMS, **variables)
    assert done.returncode == 0, done.stderr
    table = project / "data/evaluation/vote/test.parquet"
    assert [row["shouting.loud"] for row in read_rows(table, None, "")] == [1.0] * 6
    signature = {"implementation": "shouting 1.0", "n": 6}
    assert read_metadata(table, "")["signature"]["shouting"] == signature

    done = run_stage("stages.report", **variables)
    assert done.returncode == 0, done.stderr
    assert "Shouting" in done.stdout
    assert "loud summaries % ↓" in done.stdout
    assert "100.0" in done.stdout
    kept = json.loads((project / "metrics/intervals.json").read_text())
    assert kept["systems"]["vote"]["shouting"]["loud"]["mean"] == 1.0
    assert kept["signatures"]["base"]["shouting"] == signature
    page = (project / "report/index.html").read_text()
    assert "loud summaries %" in page

    write_params(project, {"sing": ","})
    done = run_stage("stages.evaluate", "base", **variables)
    assert done.returncode == 2
    assert "evaluation.shouting.sing: unknown key; did you mean evaluation.shouting.sign" in (
        done.stderr
    )
