"""Several models and a server make one pool, whatever happens on the way."""

import os
import shutil
import signal
import subprocess
import time

import pytest
import small_project
from bad_endpoint import BadEndpoint
from ruamel.yaml import YAML

from brido.tables import POOL, read_rows
from stages import paths

SAMPLING = {"method": "sampling", "num_candidates": 2, "temperature": 1.0, "top_p": 0.95,
            "seed": 0, "min_length": 0, "max_length": 12}  # fmt: skip
SOURCES = {
    "base": SAMPLING | {"checkpoint": "base"},
    "second": SAMPLING | {"checkpoint": "second"},
    "third": SAMPLING | {"checkpoint": "third"},
    "big": {"checkpoint": "none", "method": "endpoint", "model": "m", "num_candidates": 3},
}
FAULTS = ("500", "stall", "drop", "cut json", "twice")


def write_project(folder, url):
    """Three checkpoints with other weights, and a server that answers at `url`."""
    small_project.write_project(folder)
    base = folder / "data/checkpoints/base"
    for number, name in enumerate(("second", "third"), 1):
        if not (base.parent / name).is_dir():
            small_project.write_checkpoint(base.parent / name, seed=number)
    path = folder / "params.yaml"
    params = YAML(typ="safe").load(path.read_text())
    params["generation"] = SOURCES
    params["checkpoints"] |= dict.fromkeys(("second", "third"), params["checkpoints"]["base"])
    params["reading"]["big"] = {"prompt": "Shorten:\n{{ document }}"}
    params["pool"]["too_few"] = "leave_out"
    server = {"base_url": url, "timeout_seconds": 30.0, "max_attempts": 100, "max_concurrency": 4}
    params["runtime"]["endpoint"] = server
    params["runtime"]["shard_documents"] = 3
    with path.open("w") as stream:
        YAML(typ="safe").dump(params, stream)  # sources in the order of their names


def start(folder, *stage):
    return subprocess.Popen(
        small_project.command(*stage), cwd=folder, env=small_project.environment(),
        stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip


def run(folder, *stage):
    process = start(folder, *stage)
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return said


def kill_when(process, condition):
    """SIGKILL for a stage, once it has come as far as `condition` says."""
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def made(folder):
    """The bytes of every table of the pool and of the server's candidates."""
    files = sorted((folder / "data/pool").iterdir()) + sorted(
        (folder / "data/candidates").rglob("*.parquet")
    )
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_faults_and_kills_end_in_the_same_pool(tmp_path):
    def finish(text):
        # One answer in four was cut at the limit.
        return "length" if text[-2] in "0123" else "stop"

    folder = tmp_path / "calm"
    with BadEndpoint(finish=finish) as server:
        write_project(folder, server.url)
        for name in SOURCES:
            run(folder, "stages.generate", name)
        said = run(folder, "stages.pool")
        wanted = sum(server.answered.values())
    assert "candidates of big" in said
    assert "not ended" in said
    calm = made(folder)
    rows = read_rows(folder / paths.pool("train"), POOL, "")
    assert rows[0]["sources"] == ["base"] * 2 + ["big"] * 3 + ["second"] * 2 + ["third"] * 2
    cut = [text[-2] in "0123" for row in rows for text in row["candidates"][2:5]]
    assert [not vote for row in rows for vote in row["voters"][2:5]] == cut
    assert True in cut

    folder = tmp_path / "storm"
    for name in ("data/corpus", "data/checkpoints"):
        shutil.copytree(tmp_path / "calm" / name, folder / name)
    with BadEndpoint(0.3, FAULTS, stall_seconds=0.3, latency=0.05, finish=finish) as server:
        write_project(folder, server.url)
        for name in ("base", "second", "third"):
            run(folder, "stages.generate", name)
        for answers in (5, 25, 45):
            process = start(folder, "stages.generate", "big")
            kill_when(process, lambda least=answers: sum(server.answered.values()) >= least)
            assert not paths.candidates("big", "train").exists()
        run(folder, "stages.generate", "big")
        run(folder, "stages.pool")
        # Killed three times, it asked again for no more than what was in flight.
        again = sum(count - 1 for count in server.answered.values())
        assert len(server.answered) == wanted
        assert again <= 3 * 4
    assert made(folder) == calm
