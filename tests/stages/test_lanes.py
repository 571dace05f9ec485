"""`python -m stages`: lanes and dvc.lock have the stages of dvc.yaml; a run tells its seconds."""

import json
import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo
from ruamel.yaml import YAML

import stages.__main__ as driver
from brido.settings.load import load_params
from brido.utils.errors import BridoError
from stages import report, seconds

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def listed():
    """The stages of dvc.yaml."""
    with Repo(str(ROOT)) as repo:
        return {stage.addressing for stage in repo.index.stages}


def test_the_lock_has_the_stages_of_dvc_yaml(listed):
    locked = YAML(typ="safe").load((ROOT / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    assert set(locked) == listed


def test_lanes_name_stages_of_dvc_yaml_and_leave_none_of_a_system_out(listed):
    lanes = driver.lanes(load_params(ROOT / "params.yaml"))
    targets = [target for lane in lanes for target in lane]
    assert len(targets) == len(set(targets))
    assert set(targets) <= listed
    # What is left runs before all lanes, or after them.
    before = {"download", "pool", "pairwise", "needs", "support", "likelihood"}
    rest = {name.split("@")[0] for name in listed - set(targets)}
    assert rest == before | {"checkpoint", "generate", "sensitivity", "choose", "report"}


@pytest.mark.parametrize("failing", ["pairwise", "train@vote", ""])
def test_a_failed_stage_ends_the_run(tmp_path, monkeypatch, failing):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    asked = []

    def run(command, check, env):
        assert env[seconds.SHOWN_LATER]
        asked.append(command)
        failed = failing in command if failing else failing == "" and command[-1] == "repro"
        return subprocess.CompletedProcess(command, bool(failed))

    monkeypatch.setattr(driver.subprocess, "run", run)
    monkeypatch.setattr(driver.sys, "argv", ["stages", "--help"])
    with pytest.raises(BridoError, match="takes no arguments"):
        driver.main()
    assert asked == []
    monkeypatch.setattr(report, "show", lambda: asked.append("shown"))
    monkeypatch.setattr(driver.sys, "argv", ["stages"])
    with pytest.raises(BridoError, match="run again"):
        driver.main()
    lanes = len(driver.lanes(load_params()))
    # Whatever fails, nothing runs behind it, and no old tables are shown.
    assert len(asked) == (1 if failing == "pairwise" else 1 + lanes + (not failing))
    assert "shown" not in asked
    failing = None
    driver.main()
    assert asked[-1] == "shown"


def test_the_dearest_stages_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert seconds.seconds_line() == ""
    seconds.FILE.parent.mkdir()
    lines = [{"stage": f"s{n}", "seconds": float(n)} for n in range(9)]
    # Run again, a stage counts once.
    lines += [{"stage": "s1", "seconds": 40.0}]
    seconds.FILE.write_text("".join(json.dumps(line) + "\n" for line in lines))
    line = seconds.seconds_line()
    assert line == "Seconds a stage: s1 40, s8 8, s7 7, s6 6, s5 5, s4 4; 3 others 5."
