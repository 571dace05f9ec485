"""The whole pipeline, killed in every stage that works for long: it ends in the same bytes.

A kill for each mechanism: shards, training state, files that appear whole.
Paid answers are in tests/endpoint/test_stops.py.
"""

import hashlib
import importlib
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import networkx
import params_file
import pytest
from dvc.repo import Repo
from dvc_project import ROOT
from forked import finish, kill_when, start

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
    """(name, words, outputs) of the project's stages, in an order in which they can run."""
    for path in (ROOT / "stages").glob("*.py"):
        importlib.import_module(f"stages.{path.stem}")  # once, for all forks
    with Repo(str(ROOT)) as repo:
        ordered = networkx.dfs_postorder_nodes(repo.index.graph)
        found = [(one.addressing, one.cmd.split(), [str(out) for out in one.outs])
                 for one in ordered]  # fmt: skip
    assert all(words[:2] == ["python", "-m"] for _, words, _ in found)
    return [(name, words[2:], outputs) for name, words, outputs in found]


def without(folder, outputs):
    """The folder with these outputs removed, as DVC does before it runs a stage."""
    for path in (folder / output for output in outputs):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    return folder


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
    draw, kills = random.Random(0), 0
    for name, words, outputs in stages:
        finish(without(whole, outputs), *words)
        if name in WORKING:
            before = kept(killed)
            process = start(without(killed, outputs), *words)
            news = lambda before=before: bool(kept(killed) - before)  # noqa: E731
            if kill_when(process, news, draw.uniform(0.0, 0.02)):
                kills += 1
                # Nothing is unfinished any more where the outputs are in place.
                done = all((killed / output).exists() for output in outputs)
                assert done or kept(killed) - before, f"{name} got no further"
        if name in WRITING:
            process = start(without(killed, outputs), *words)
            kills += kill_when(process, lambda: unfinished(killed))
        finish(without(killed, outputs), *words)
    assert content(killed) == content(whole)
    assert len(content(killed)) > 20
    assert kills >= LEAST_KILLS
    left = [path for path, _ in kept(killed) if path.suffix == ".parquet"]
    assert left == [], "unfinished work is left behind"
    assert not unfinished(killed)
