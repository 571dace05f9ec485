"""Workers here, in threads and in processes: same bytes, named ends, nobody left over."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy_workers
from toy_workers import UNITS, complain, contents, die_once, exhaust, maker, meet

from brido.tables import DECODED, read_metadata, read_rows
from brido.utils.errors import BridoError
from brido.work import Workers, run
from brido.work import running as run_module
from brido.work.running import Splits, run_stream
from brido.work.shards import Shards

ALL = range(len(UNITS))
PROCESSES = Workers(("cpu", "mps"))


def made(folder):
    """Who was made (process and object), with its device."""
    return {path.name: path.read_text() for path in folder.glob("made-*")}


def test_one_worker_works_in_this_process_and_needs_no_pickling(tmp_path):
    shards, seen = Shards("toy", "key", DECODED), []

    def make(device, advance):
        def work(unit):
            seen.append((os.getpid(), device, list(unit)))
            return [{"id": str(row), "summary": "", "score": 0.0} for row in unit], {}

        return work

    run(shards, UNITS, make, Workers(("cuda:7",)))
    assert seen == [(os.getpid(), "cuda:7", list(unit)) for unit in UNITS]
    ids = [name for batch in shards.read(ALL) for name in batch.column("id").to_pylist()]
    assert ids == [str(row) for row in range(30)]


def test_several_workers_make_the_same_bytes(tmp_path, expected):
    shards = Shards("toy", "key", DECODED)
    run(shards, UNITS, maker(tmp_path, meet), PROCESSES)
    assert contents(shards) == expected
    assert shards.metadata(1) == {"rows": 3, "sum": 3 + 4 + 5}
    assert len(made(tmp_path)) == 2, "a worker is made once"
    assert set(made(tmp_path).values()) == set(PROCESSES.devices)
    assert str(os.getpid()) not in {name.split("-")[1] for name in made(tmp_path)}


@pytest.mark.parametrize("workers", [Workers(), PROCESSES], ids=["one", "two"])
@pytest.mark.parametrize(
    ("mischief", "sentence"),
    [
        (complain, r"^row 12 is no good:\n  - at all$"),
        (exhaust, r"^a worker's memory does not suffice; .* memory is short$"),
    ],
)
def test_a_workers_error_is_a_sentence(tmp_path, expected, workers, mischief, sentence):
    shards = Shards("toy", "key", DECODED)
    with pytest.raises(BridoError, match=sentence):
        run(shards, UNITS, maker(tmp_path, mischief), workers)
    assert any(shards.done(index) for index in ALL)
    run(shards, UNITS, maker(tmp_path), workers)
    assert contents(shards) == expected


def test_a_worker_process_that_is_killed_is_named_and_its_shards_are_kept(tmp_path, expected):
    shards = Shards("toy", "key", DECODED)
    with pytest.raises(BridoError, match=r"process ended .*memory ran out.*run again") as error:
        run(shards, UNITS, maker(tmp_path, die_once), PROCESSES)
    assert "\n" not in str(error.value)
    done = [index for index in ALL if shards.done(index)]
    assert 0 < len(done) < len(UNITS)
    for path in tmp_path.glob("did-*"):
        path.unlink()
    run(shards, UNITS, maker(tmp_path, die_once), PROCESSES)
    assert len(list(tmp_path.glob("did-*"))) == len(UNITS) - len(done)
    assert contents(shards) == expected


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


def hears_interrupts(process):
    """Whether Ctrl-C reaches a process: the signal's bit among its blocked signals."""
    (blocked,) = re.findall(r"SigBlk:\s*(\w+)", Path(f"/proc/{process}/status").read_text())
    return not int(blocked, 16) & 1 << (signal.SIGINT - 1)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize(
    ("number", "group"),
    [
        (signal.SIGINT, True),
        (signal.SIGTERM, False),
        (signal.SIGKILL, False),
    ],
)
def test_workers_end_with_their_driver_and_shards_are_kept(
    request, tmp_path, expected, number, group
):
    """As Ctrl-C in a terminal (the whole group), and as a driver that is stopped or killed."""
    driver = subprocess.Popen(
        [sys.executable, toy_workers.__file__, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(run_module.__file__).parents[2])},
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    request.addfinalizer(driver.kill)
    work = tmp_path / "work" / "toy" / "key"
    deadline = time.monotonic() + 300
    # The one that is awake has nothing left to do but the sleeper's unit.
    while len(list(work.glob("[!.]*.parquet"))) < len(UNITS) - 1:
        assert time.monotonic() < deadline, "waited in vain"
        assert driver.poll() is None, "the driver ended by itself"
        time.sleep(0.02)
    workers = [int(name.split("-")[1]) for name in made(tmp_path)]
    assert len(workers) == 2
    # Who had nothing left to do may have gone.
    workers = list(filter(is_running, workers))
    assert workers
    assert hears_interrupts(driver.pid)
    assert not any(map(hears_interrupts, workers)), "the driver answers Ctrl-C alone"
    (os.killpg if group else os.kill)(driver.pid, number)
    said = driver.communicate(timeout=300)[1]
    deadline = time.monotonic() + 20
    while any(map(is_running, workers)):
        assert time.monotonic() < deadline, "a worker went on without its driver"
        time.sleep(0.02)
    if number != signal.SIGKILL:
        assert driver.returncode == 128 + number
        assert said.splitlines()[-1].startswith("interrupted; 27 of 30 documents are kept")
    assert "Traceback" not in said
    shards = Shards("toy", "key", DECODED)
    run(shards, UNITS, maker(tmp_path))
    assert contents(shards) == expected


def test_splits_are_done_in_one_run_and_written_apart(tmp_path):
    units = {"train": UNITS[:6], "validation": [], "test": UNITS[6:]}
    work = Splits("toy", "key", DECODED, units)
    work.run(maker(tmp_path), Workers(), "toy", 10.0)
    assert len(made(tmp_path)) == 1
    assert work.totals("train")["rows"] == 18
    assert work.totals("validation")["rows"] == 0
    for split, rows in (("train", range(18)), ("validation", range(0)), ("test", range(18, 30))):
        path = tmp_path / f"{split}.parquet"
        work.write(split, path, {"split": split})
        assert [row["id"] for row in read_rows(path, DECODED, "")] == [str(row) for row in rows]
        assert read_metadata(path, "") == {"split": split}
    work.clear()
    assert not any(path.is_file() for path in (tmp_path / "work" / "toy").rglob("*"))


def test_a_stream_is_read_as_it_is_needed_and_handed_over_in_order():
    read, done, finished, counted = [], [], [], []

    def units():
        for unit in UNITS:
            # Two a worker wait, and no more.
            assert len(read) - len(done) <= 2
            read.append(unit)
            yield unit

    def make(device, advance):
        def work(unit):
            time.sleep(0.02 if 0 in unit else 0.0)  # the first is the last
            done.append(unit)
            return [{"row": row} for row in unit], {"rows": len(unit)}

        return work

    def count(documents, *, tokens=0):
        counted.append(documents)

    run_stream(units(), make, Workers(), lambda *result: finished.append(result), count)
    assert finished == [([{"row": row} for row in unit], {"rows": 3}) for unit in UNITS]
    assert sum(counted) == 30
    run_stream([], make, Workers(), finished.append)
    assert len(finished) == len(UNITS)
