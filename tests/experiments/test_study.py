"""The study: its arithmetic, its table, and a small one that is killed and goes on."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from dvc_project import SMALL, commit, copy_project, environment, run
from ruamel.yaml import YAML

from experiments.grids import load_experiments
from experiments.study_table import Measured, interval, matched_penalty, study_table

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("lengths", "target", "expected"),
    [
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 11.0, 0.5),
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 16.0, 1.5),
        ({2.0: 20.0, 0.0: 10.0}, 10.0, 0.0),
        ({0.0: 10.0, 1.0: 12.0}, 13.0, None),
        ({0.0: 10.0, 1.0: 10.0}, 10.0, None),
        ({1.0: 10.0}, 10.0, None),
    ],
)
def test_matched_penalty(lengths, target, expected):
    assert matched_penalty(lengths, target) == expected


def test_the_interval_covers_differences_between_seeds():
    """No spread within seeds: all of the interval comes from drawing seeds."""
    same = [np.full(50, 0.3)] * 5
    assert interval(same) == pytest.approx((0.3, 0.3, 0.3))
    spread = [np.full(50, value) for value in (0.1, 0.2, 0.3, 0.4, 0.5)]
    mean, low, high = interval(spread)
    assert mean == pytest.approx(0.3)
    # Five draws of values with standard deviation 0.141: +- 1.96 x 0.141 / sqrt(5).
    assert (low, high) == (pytest.approx(0.18, abs=0.02), pytest.approx(0.42, abs=0.02))


def test_the_table_says_which_seeds_do_not_reach_bases_length():
    def found(unsupported, words):
        return Measured(np.full(10, unsupported), np.full(10, words))

    usual = {
        "reference": [found(1.0, 12.0)] * 2,
        "base": [found(0.5, 10.0)] * 2,
        "longer": [found(0.5, 14.0), found(0.5, 15.0)],
        "shorter": [found(0.0, 8.0)] * 2,
    }
    matched = {
        "base": usual["base"],
        "longer": [found(0.5, 10.0), None],
        "shorter": [found(0.25, 10.0)] * 2,
    }
    assert study_table(usual, matched).splitlines() == [
        "| 2 seeds, 20 test documents | unsupported mentions | words | at base's length |",
        "|---|---|---|---|",
        "| reference | 100.0 % [100.0, 100.0] | 12.0 |  |",
        "| base | 50.0 % [50.0, 50.0] | 10.0 | 50.0 % [50.0, 50.0] |",
        "| longer | 50.0 % [50.0, 50.0] | 14.5 | out of reach for 1 of 2 seeds |",
        "| shorter | 0.0 % [0.0, 0.0] | 8.0 | 25.0 % [25.0, 25.0] |",
    ]


def test_the_grid_has_every_system_under_every_seed(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = load_experiments(Path("params.yaml"), [Path("experiments/study.yaml")])
    assert len(found) == 4 * 5
    assert {item.params["data.world.seed"] for item in found} == {0, 1, 2, 3, 4}
    for item in found:
        for key in ("checkpoints.base.embedded.seed", "training.seed"):
            assert item.params[key] == item.params["data.world.seed"]
    names = {item.name for item in load_experiments(Path("params.yaml"))}
    assert not names & {item.name for item in found}  # no part of the sweep


SMALL_GRID = """
datasets: []
seeds: [3]
runs:
  mle-only: {training.gamma: 0.0, "evaluation.metrics": [mentions, extractiveness]}
"""


# One tuned model against its base: neither has to be any good.
SMALLER = SMALL | {
    "data.world.train": 300,
    "checkpoints.base.embedded.epochs": 1,
    "generation.train_documents": 16,
}


@pytest.fixture
def project(tmp_path):
    """The project with a small params.yaml and a grid of one system."""
    folder = copy_project(tmp_path)
    yaml = YAML()
    params = yaml.load((folder / "params.yaml").read_text())
    for key, value in SMALLER.items():
        *sections, last = key.split(".")
        place = params
        for section in sections:
            place = place[section]
        place[last] = value
    yaml.dump(params, folder / "params.yaml")
    (folder / "grid.yaml").write_text(SMALL_GRID)
    commit(folder, "small")
    return folder


@pytest.mark.slow
def test_a_killed_study_goes_on_and_prints_the_table(project):
    command = [sys.executable, "-m", "experiments.study", "grid.yaml"]
    log = project / "killed.log"
    with log.open("w") as output:
        started = subprocess.Popen(
            command, cwd=project, env=environment(), stderr=output, start_new_session=True
        )
    second = ""  # the first of the runs with another length penalty
    deadline = time.monotonic() + 600
    while "Running stage 'decode@tuned'" not in second:
        assert started.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
        logs = (project / ".brido/work/sweep").glob("*-penalty-*.log")
        second = "".join(path.read_text() for path in logs)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert "mle-only-seed-3: done" in log.read_text()
    assert "Running stage 'train'" not in second  # from DVC's run cache

    said = run(project, *command)
    assert "mle-only-seed-3: training.gamma" not in said  # it was done
    assert said.count("done in") >= 1
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    names = [re.sub(r"\| ([\w-]+) .*", r"\1", row) for row in rows[1:]]
    assert names == ["reference", "base", "mle-only"]
    assert rows[0].startswith("| 1 seeds, 40 test documents |")
    again = run(project, *command)
    assert "done in" not in again
    assert [line for line in again.splitlines() if line.startswith("| ")] == rows
    assert run(project, "git", "status", "--short", "params.yaml") == ""
