"""Grids and the runner of sweeps: checked before anything runs, resumed, failures listed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.settings.presets import preset_text
from brido.utils.errors import BridoError
from experiments.grid import load_experiments
from experiments.paper_layouts import ETA
from experiments.runs import Run
from experiments.sweep import finished

ROOT = Path(__file__).parents[2]


@pytest.fixture
def raw():
    return YAML(typ="safe").load((ROOT / "params.yaml").read_text())


def write(path, content):
    with path.open("w") as file:
        YAML(typ="safe").dump(content, file)
    return path


def grid(tmp_path, runs, datasets=("world",)):
    return write(tmp_path / "grid.yaml", {"datasets": list(datasets), "runs": runs})


def test_the_papers_grids_are_there_and_fit_the_world(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = {item.name: item for item in load_experiments(Path("params.yaml"))}
    alphas = [item.params["scoring.alpha"] for name, item in found.items() if "alpha" in name]
    assert alphas == [0, 1, 15, "inf"]
    for key in (
        "generation.base.diversity_penalty", "generation.base.num_candidates", "training.gamma",
        "training.margin", "training.margin_kind",
    ):  # fmt: skip
        assert len({item.params[key] for item in found.values()}) > 1, key
    assert found["alpha-inf"].changes == ["scoring.alpha=inf"]


@pytest.mark.parametrize("name", ["xsum", "cnndm"])
def test_the_papers_own_tables_can_be_run_from_the_presets(monkeypatch, tmp_path, name):
    monkeypatch.chdir(ROOT)
    params = tmp_path / "params.yaml"
    params.write_text(preset_text(name))
    found = load_experiments(params)
    pairs = {
        tuple(float(item.params[key]) for key in (ETA, "scoring.alpha"))
        for item in found
        if item.name.startswith(name)
    }
    from experiments.paper_layouts import ALPHA, paper_layouts

    wanted = {
        (row.overrides[ETA], float(row.overrides[ALPHA]))
        for layout in paper_layouts(name)
        for row in layout.rows
        if row.system == "tuned"
    }
    assert pairs == wanted


def test_half_the_vote_follows_the_number_of_candidates(tmp_path, raw):
    params = write(tmp_path / "params.yaml", raw)
    runs = {
        "a": {"scoring.alpha": "N-1"},
        "b": {"scoring.alpha": "N-1", "generation.base.num_candidates": 8},
    }
    first, second = load_experiments(params, [grid(tmp_path, runs)])
    assert first.overrides["scoring.alpha"] == raw["generation"]["base"]["num_candidates"] - 1
    assert second.overrides["scoring.alpha"] == 7


def test_all_problems_are_named_before_anything_runs(tmp_path, raw):
    params = write(tmp_path / "params.yaml", raw)
    runs = {"a": {"scoring.alfa": 1}, "b": {"scoring.alpha": -1}, "c": {"nothing.at.all": 1}}
    with pytest.raises(BridoError) as caught:
        load_experiments(params, [grid(tmp_path, runs, ["mars"]), grid(tmp_path, runs)])
    assert "scoring.alfa" in str(caught.value)
    assert "nothing.at.all" in str(caught.value)
    assert "scoring.alpha" in str(caught.value)
    broken = write(tmp_path / "broken.yaml", {"runs": []})
    odd = write(tmp_path / "odd.yaml", {"datasets": ["mars"], "runs": {"a": 3}})
    with pytest.raises(BridoError) as caught:
        load_experiments(params, [broken, odd])
    for part in ("must have the keys datasets, runs", "mars", "must map each name"):
        assert part in str(caught.value)


def test_a_run_counts_as_done_only_with_its_very_params(tmp_path, raw):
    params = write(tmp_path / "params.yaml", raw)
    (item,) = load_experiments(params, [grid(tmp_path, {"a": {"scoring.alpha": "inf"}})])
    done = dict(item.params) | {"scoring.alpha": float("inf")}
    assert finished(item, Run("a", done, {"tuned": {}}))
    assert not finished(item, Run("a", done | {"training.seed": 9}, {"tuned": {}}))
    assert not finished(item, Run("a", done, {}, "it has no metrics"))
    assert not finished(item, None)


PIPELINE = """
import json, os, sys
from ruamel.yaml import YAML
alpha = float(YAML(typ="safe").load(open("params.yaml"))["scoring"]["alpha"])
if alpha == 7 and not os.path.exists(os.environ["ALLOW"]):
    sys.exit("error: seven is not allowed")
os.makedirs("metrics", exist_ok=True)
mean = 50.0 + min(alpha, 40.0)
numbers = {"rouge": {"r1": {"mean": mean, "low": mean - 1, "high": mean + 1, "documents": 9}}}
kept = {"systems": {"base": numbers, "tuned": numbers}}
json.dump(kept, open("metrics/intervals.json", "w"))
"""


@pytest.fixture
def project(tmp_path, raw):
    """A Git and DVC project of one stage that fails at alpha 7 until a file allows it."""
    write(tmp_path / "params.yaml", raw)
    (tmp_path / "stage.py").write_text(PIPELINE)
    stage = {
        "cmd": "python stage.py",
        "deps": ["stage.py"],
        "params": ["scoring"],
        "outs": [{"metrics/intervals.json": {"cache": False}}],
    }
    write(tmp_path / "dvc.yaml", {"stages": {"report": stage}})
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (
        ["git", "init", "-q"], ["dvc", "init", "-q"], ["dvc", "repro", "-q"],
        ["git", "add", "-A"], [*git, "commit", "-q", "-m", "start"],
    ):  # fmt: skip
        shell(tmp_path, *command)
    return tmp_path


def shell(folder, *command, check=True):
    folders = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": folders,
        "PYTHONPATH": str(ROOT),
        "ALLOW": str(folder / "allowed"),
        "DVC_NO_ANALYTICS": "1",
        **{
            f"GIT_{who}_{what}": "t@t"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=check
    )


@pytest.mark.slow
def test_a_sweep_goes_on_after_a_failure_resumes_and_leaves_the_workspace_alone(project):
    runs = {
        "one": {"scoring.alpha": 1},
        "seven": {"scoring.alpha": 7},
        "all": {"scoring.alpha": "inf"},
    }
    path = str(grid(project, runs))
    sweep = (sys.executable, "-m", "experiments.sweep", path)
    first = shell(project, *sweep, check=False)
    assert first.returncode == 2, first.stderr
    assert "1 of 3 experiments failed" in first.stderr
    assert "seven: error: seven is not allowed" in first.stderr
    assert "Traceback" not in first.stderr
    assert "α = 1" in first.stdout
    assert "51.00" in first.stdout
    assert shell(project, "git", "status", "--short", "params.yaml").stdout == ""
    listed = shell(project, *sweep, "--list").stdout
    states = {line.split()[0]: line.split()[1] for line in listed.splitlines()}
    assert states == {"one": "done", "seven": "to", "all": "done"}
    (project / "allowed").touch()
    second = shell(project, *sweep)
    assert "3 experiments, 2 done already" in second.stderr
    assert "[1/1] seven" in second.stderr
    assert (project / "metrics/sweep/alpha.png").is_file()
    third = shell(project, *sweep)
    assert "3 experiments, 3 done already" in third.stderr
    # Other settings in the workspace make the same names outdated: they run anew.
    params = YAML(typ="safe").load((project / "params.yaml").read_text())
    params["training"]["seed"] = 5
    write(project / "params.yaml", params)
    assert "3 experiments, 0 done already" in shell(project, *sweep, "--list").stderr
    fourth = shell(project, *sweep)
    assert fourth.stderr.count("done in") == 3
