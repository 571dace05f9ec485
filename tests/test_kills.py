"""The whole pipeline, killed in every stage that works for long: it ends in the same bytes.

A kill for each mechanism: shards, training state, files that appear whole.
Paid answers are in tests/endpoint/test_stops.py.
"""

import hashlib
import os
import random
from contextlib import suppress
from pathlib import Path

import networkx
import params_file
import pytest
from dvc.repo import Repo
from dvc_project import ROOT
from forked_stages import Stages

from brido.settings.params import Params

SMALL = {
    "data.world": {"train": 80, "validation": 24, "test": 24},
    "checkpoints.base.embedded": {"epochs": 2},
    # Fewer, and it writes nothing yet.
    "checkpoints.base.embedded.world": {"documents": 800},
    "generation.base": {"num_candidates": 4, "num_beams": 4, "num_beam_groups": 4},
    "training": {"epochs": 3},
    "training.validation": {"documents": 8, "every": 4},
    "evaluation": {"metrics": ["rouge"]},
    "choice": {"by": "rouge.r1"},
    "report": {"bootstrap_samples": 50, "page_documents": 5},
    # Shards and states are small, so that there are many moments between them.
    "runtime": {"shard_documents": 4, "log_seconds": 1000.0, "checkpoint_minutes": 0.002},
}
# Killed once with something new on the disk.
WORKING = ("checkpoint@base", "generate@base", "pairwise", "train@vote", "decode@vote")
# Killed while it writes an output.
WRITING = ("download", "pool", "choose")
# Some of them come too late.
LEAST_KILLS = 6

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stages():
    """(name, command, outputs) of the project's stages, in an order in which they can run."""
    with Repo(str(ROOT)) as repo:
        ordered = networkx.dfs_postorder_nodes(repo.index.graph)
        return [
            (stage.addressing, stage.cmd, [str(out) for out in stage.outs]) for stage in ordered
        ]


def project(folder):
    """A folder with a params.yaml made small."""
    params = params_file.default()
    for section, changes in SMALL.items():
        place = params
        for key in section.split("."):
            place = place[key]
        place |= changes
    Params.model_validate(params)
    params_file.write(folder, params)
    return folder


def content(folder):
    """The hash of every file that the stages made."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in ("data", "metrics", "report")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def kept(folder):
    """The finished pieces of unfinished work: a state that was replaced is another piece."""
    found = set()
    # Files and folders go away meanwhile: os.walk passes over folders that did.
    for place, folders, names in os.walk(folder / ".brido/work"):
        if "kept" in folders:
            folders.remove("kept")  # finished work, for the next run
        for name in names:
            path = Path(place, name)
            if path.suffix in (".parquet", ".pt") and not name.startswith("."):
                with suppress(FileNotFoundError):
                    found.add((path, path.stat().st_mtime_ns))
    return found


def unfinished(folder):
    """Whether a file is being written that is to appear whole."""
    inside = (name for _, dirs, files in os.walk(folder / "data") for name in dirs + files)
    return any(name.startswith(".") and name.endswith(".tmp") for name in inside)


def test_killed_in_every_stage_the_pipeline_ends_in_the_same_bytes(stages, tmp_path):
    whole, killed = project(tmp_path / "undisturbed"), project(tmp_path / "killed")
    processes, draw, kills = Stages(), random.Random(0), 0
    for name, command, outputs in stages:
        processes.run(whole, command, outputs)
        if name in WORKING:
            before = kept(killed)
            process = processes.start(killed, command, outputs)
            news = lambda before=before: bool(kept(killed) - before)  # noqa: E731
            if processes.kill_when(process, news, draw.uniform(0.0, 0.02)):
                kills += 1
                # Nothing is unfinished any more where the outputs are in place.
                done = all((killed / output).exists() for output in outputs)
                assert done or kept(killed) - before, f"{name} got no further"
        if name in WRITING:
            process = processes.start(killed, command, outputs)
            kills += processes.kill_when(process, lambda: unfinished(killed), 0.0)
        processes.run(killed, command, outputs)
    assert content(killed) == content(whole)
    assert len(content(killed)) > 20
    assert kills >= LEAST_KILLS
    left = [path for path, _ in kept(killed) if path.suffix == ".parquet"]
    assert left == [], "unfinished work is left behind"
    assert not unfinished(killed)
