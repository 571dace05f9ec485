"""dvc.lock has the stages of dvc.yaml, and no other."""

from pathlib import Path

from dvc.repo import Repo
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


def test_the_lock_has_the_stages_of_dvc_yaml():
    with Repo(str(ROOT)) as repo:
        listed = {stage.addressing for stage in repo.index.stages}
    locked = YAML(typ="safe").load((ROOT / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    assert set(locked) == listed
