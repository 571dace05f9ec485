"""The whole pipeline, every stage of it killed again and again: the same bytes as undisturbed."""

import hashlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import networkx
import pytest
from dvc.repo import Repo
from dvc_project import ROOT, environment
from ruamel.yaml import YAML

from brido.settings.params import Params

# Seconds of processor time after which a stage is killed: a busy machine gets as far in them.
SHORTEST, LONGEST = 3.0, 15.0
MOST_STARTS = 12
SMALL = {
    "data.world": {"train": 80, "validation": 24, "test": 24},
    "checkpoints.base.embedded": {"epochs": 2},
    # Fewer, and it writes nothing yet.
    "checkpoints.base.embedded.world": {"documents": 1500},
    "generation.base": {"num_candidates": 4, "num_beams": 4, "num_beam_groups": 4},
    "training.validation": {"documents": 8, "every": 4},
    "evaluation": {"metrics": ["rouge"]},
    "report": {"bootstrap_samples": 50, "page_documents": 5},
    "runtime": {"shard_documents": 8, "log_seconds": 1000.0},
}
TICKS = os.sysconf("SC_CLK_TCK")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc"),
]


@pytest.fixture(scope="module")
def stages():
    """(name, command, outputs) of the project's stages, in an order in which they can run.

    One metric stands for all.
    """
    with Repo(str(ROOT)) as repo:
        ordered = networkx.dfs_postorder_nodes(repo.index.graph)
        return [
            (stage.addressing, stage.cmd, [str(out) for out in stage.outs])
            for stage in ordered
            if not stage.addressing.startswith("evaluate@")
            or stage.addressing.startswith("evaluate@rouge-")
        ]


def project(folder):
    """A folder with the stages and a params.yaml made small."""
    folder.mkdir()
    for name in ("brido", "stages"):
        (folder / name).symlink_to(ROOT / name)
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    for section, changes in SMALL.items():
        place = params
        for key in section.split("."):
            place = place[key]
        place |= changes
    Params.model_validate(params)
    with (folder / "params.yaml").open("w") as file:
        YAML(typ="safe").dump(params, file)
    return folder


def start(folder, command, outputs):
    """The stage as DVC starts it, which removes its outputs first."""
    for output in outputs:
        path = folder / output
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            shlex.split(command),
            cwd=folder, env=environment(NUMBA_CACHE_DIR=str(folder / "kernels")),
            stderr=log, stdout=log, start_new_session=True,
        )  # fmt: skip


def used(process):
    """Seconds of processor time that a process has had."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def starts_until_done(folder, command, outputs, limits):
    """How often the stage was started, when all but the last start were killed."""
    for count in range(1, MOST_STARTS + 1):
        process, limit = start(folder, command, outputs), next(limits)
        while process.poll() is None and used(process) < limit:
            time.sleep(0.02)
        if process.poll() is not None:
            assert process.returncode == 0, (folder / "log").read_text()
            return count
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    raise AssertionError(f"{command} did not end in {MOST_STARTS} starts")


def content(folder):
    """The hash of every file that the stages made."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in ("data", "metrics", "report")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def test_killed_every_few_seconds_the_pipeline_ends_in_the_same_bytes(stages, tmp_path):
    undisturbed, killed = project(tmp_path / "undisturbed"), project(tmp_path / "killed")
    generator = random.Random(0)
    limits = iter(lambda: generator.uniform(SHORTEST, LONGEST), None)
    counts = {}
    for name, command, outputs in stages:
        assert start(undisturbed, command, outputs).wait() == 0, (undisturbed / "log").read_text()
        counts[name] = starts_until_done(killed, command, outputs, limits)
    assert content(killed) == content(undisturbed)
    assert len(content(killed)) > 20
    assert sum(count > 1 for count in counts.values()) >= 2, f"too little to kill: {counts}"
    assert not list((killed / ".brido/work").glob("*/*/*.parquet")), "work that nobody needs"
