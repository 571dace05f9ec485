"""The study: its plan, arithmetic, tables and picture, and a small one that is killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from dvc_project import SMALL, commit, copy_project, environment, run
from ruamel.yaml import YAML

from brido.settings.load import read_yaml
from brido.settings.presets import flatten
from experiments.grids import changed
from experiments.study import lengths, picture, plan, records, table
from experiments.study.records import Row

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("known", "target", "expected"),
    [
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 11.0, 0.5),
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 16.0, 1.5),
        ({2.0: 20.0, 0.0: 10.0}, 10.0, 0.0),
        ({0.0: 10.0, 1.0: 12.0}, 13.0, None),
        ({0.0: 10.0, 1.0: 10.0}, 11.0, None),
        ({1.0: 10.0}, 9.0, None),
    ],
)
def test_matched_penalty(known, target, expected):
    assert lengths.matched_penalty(known, target) == expected


def test_penalties_are_tried_outwards_until_the_length_is_enclosed():
    tried = []

    def words(penalty):
        tried.append(penalty)
        return 10 + 2 * penalty

    assert lengths.penalty_for(13.4, 1.0, 12.0, words) == 1.7
    assert tried == [1.5, 2.0]
    assert lengths.penalty_for(11.5, 1.0, 12.0, words) == 0.75
    assert lengths.penalty_for(12.0, 1.0, 12.0, words) == 1.0
    assert tried == [1.5, 2.0, 0.5]
    assert lengths.penalty_for(50.0, 1.0, 12.0, words) is None


def test_the_interval_covers_differences_between_seeds():
    """No spread within seeds: all of the interval comes from drawing seeds."""
    same = [np.full(50, 0.3)] * 5
    assert table.interval(same) == pytest.approx((0.3, 0.3, 0.3))
    spread = [np.full(50, value) for value in (0.1, 0.2, 0.3, 0.4, 0.5)]
    mean, low, high = table.interval(spread)
    assert mean == pytest.approx(0.3)
    # Five draws of values with standard deviation 0.141: +- 1.96 x 0.141 / sqrt(5).
    assert (low, high) == (pytest.approx(0.18, abs=0.02), pytest.approx(0.42, abs=0.02))


def params():
    return read_yaml(ROOT / "params.yaml")


def test_the_plan_has_every_chain_once_and_its_first_seed_first():
    found = plan.read_chains(plan.PLAN, flatten(params()))
    assert len({chain.name for chain in found}) == len(found) == 5 + 5 + 15 * 3
    home = [chain for chain in found if chain.key[:2] == found[0].key[:2]]
    assert {chain.key[2:] for chain in home} == {
        (seed, processor) for seed in range(5) for processor in ("native", "default")
    }
    # The default's chains are the default, but for seeds: their numbers are those of `dvc repro`.
    for chain in home:
        shipped = flatten(params())
        other = flatten(changed(params(), chain.overrides, chain.name))
        assert {key for key in shipped if shipped[key] != other[key]} <= set(plan.SEEDS)
        assert {other[key] for key in plan.SEEDS} == {chain.seed}
    assert {chain.seed for chain in found[:16]} == {0}
    places = {chain.key[:2] for chain in found}
    assert len(places) == 4 * 4
    assert all(len({c.seed for c in found if c.key[:2] == place}) >= 3 for place in places)


def row(system, flags, **changes):
    values = {
        "stock_phrases": 0.6, "support_rate": 0.8, "seed": 0, "processor": "native",
        "params": "00000000", "system": system, "split": "test", "length_penalty": 1.0,
        "words": 15.0, "r1": 60.0, "r2": 40.0, "unsupported": flags, "fluency": "3331",
    }  # fmt: skip
    return Row(**(values | changes))


@pytest.fixture
def rows():
    """Two seeds of every system; base's length is out of BRIO's reach under one of them."""
    found = []
    for seed in (0, 1):
        for name in table.LABELS:
            flags = {"base": "1100", "tuned": "1000", "elected": "1000"}.get(name, "1111")
            for split in ("validation", "test"):
                found.append(row(name, flags, seed=seed, split=split))
        for name in ("tuned at base's length", "base at tuned's length", "mle at base's length"):
            found.append(row(name, "1000", seed=seed, length_penalty=0.5))
    found.append(row("brio at base's length", "0000", seed=1))
    return found


def test_rows_come_back_from_their_file(rows, tmp_path):
    records.write_rows(tmp_path / "study.csv", rows)
    assert records.read_rows(tmp_path / "study.csv") == rows
    assert rows[0].flags.tolist() == [1, 1, 1, 1]


def test_tables_say_what_the_rows_hold(rows):
    home = plan.read_chains(plan.PLAN, flatten(params()))[0]
    lines = {line.split(" | ")[0]: line for line in table.summary_table(rows, home).splitlines()}
    assert "| 2 seeds x 4 test documents" in lines
    assert "| 50.0 % [" in lines["| base"]
    assert "| 15.0 | 75 % | 25.0 % [0.0, 62.5] | 60.0/40.0 |" in lines["| base"]
    told = table.among_well_formed(rows, home)
    assert told.startswith("In 6 of 8 documents both are; there tuned - base is -33.3 [")
    assert "out of reach for 1 of 2 seeds" in lines[f"| {table.LABELS['brio']}"]
    assert lines[f"| {table.LABELS['tuned']}"].count("| 25.0 % [0.0, 62.5] |") == 2
    (first, second) = table.repeat_table(rows, home).splitlines()[2:]
    assert first.startswith("| 0 | native | 50.0 % | 25.0 % | -25.0 [-75.0, +0.0] | 15.0 -> 15.0 |")
    assert second.startswith("| 1 | native |")
    (line,) = table.plane_table(rows).splitlines()[2:]
    assert line.startswith("| 0.6 | 0.8 | 2 | -25.0 [")
    assert "| 50.0 % | 25.0 % | 100.0 % | 25.0 % | 100.0 % | 100.0 % |" in line


def test_the_picture_is_the_same_twice(rows, tmp_path):
    first = picture.draw(tmp_path / "a", rows).read_bytes()
    assert first == picture.draw(tmp_path / "b", rows).read_bytes()
    assert first.startswith(b"\x89PNG")


def test_the_documents_show_the_committed_study():
    """Whoever measures anew also writes anew: `python -m experiments.study --show` prints it."""
    measured = records.read_rows(ROOT / "metrics/study/chains.csv")
    home = plan.read_chains(plan.PLAN, flatten(params()))[0]
    shown = {
        "README.md": [table.summary_table(measured, home)],
        "docs/results.md": [
            table.among_well_formed(measured, home),
            table.repeat_table(measured, home),
            table.plane_table(measured),
            table.foretold(measured),
        ],
    }
    for name, texts in shown.items():
        there = " ".join((ROOT / name).read_text().split())
        for text in texts:
            assert " ".join(text.split()) in there, text


SMALL_PLAN = """
repeat:
  seeds: [3]
  processors: {native: {systems: [tuned, mle], at_equal_length: [tuned]}}
plane:
  seeds: [3]
  stock_phrases: [0.0]
  support_rates: [0.35]
  systems: [tuned]
  at_equal_length: []
  changes: {data.world.test: 10}
systems: {tuned: {}, mle: {training.gamma: 0.0}}
"""
# Neither base has to be good, but its candidates must differ: 200 articles teach too little.
SMALLER = {key: value for key, value in SMALL.items() if "report" not in key} | {
    "checkpoints.base.embedded.world.documents": 1200,
    "checkpoints.base.embedded.epochs": 1,
    "documents.train": 16,
}


@pytest.fixture
def project(tmp_path):
    """The project with a small params.yaml and a plan of two chains."""
    folder = copy_project(tmp_path)
    small = changed(read_yaml(folder / "params.yaml"), SMALLER, "small")
    with (folder / "params.yaml").open("w") as stream:
        YAML().dump(small, stream)
    (folder / "plan.yaml").write_text(SMALL_PLAN)
    (folder / "metrics/study/chains.csv").unlink(missing_ok=True)
    commit(folder, "small")
    return folder


@pytest.mark.slow
def test_a_killed_study_goes_on_and_prints_the_tables(project):
    command = [sys.executable, "-m", "experiments.study", "plan.yaml", "--workers", "1"]
    log = project / "killed.log"
    with log.open("w") as output:
        started = subprocess.Popen(
            command, cwd=project, env=environment(), stderr=output, start_new_session=True
        )
    deadline = time.monotonic() + 1500
    while "done in" not in log.read_text():
        assert started.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    (done,) = re.findall(r"\] (\S+): done in", log.read_text())

    said = run(project, *command)
    assert "2 chains, 1 done already" in said
    assert f"{done}: done in" not in said
    rows = records.read_rows(project / "metrics/study/chains.csv")
    assert len({one.chain for one in rows}) == 2
    names = {one.system for one in rows if one.chain[0] != 0}
    assert {"reference", "base", "elected", "elected by the reference", "tuned", "mle"} <= names
    # The table is enough: elsewhere nothing of it is measured again.
    shutil.rmtree(project / ".brido/study")
    assert "2 chains, 2 done already" in run(project, *command)
    assert records.read_rows(project / "metrics/study/chains.csv") == rows
    again = run(project, *command, "--show")
    shown = [line for line in said.splitlines() if line.startswith("| ")]
    assert shown == [line for line in again.splitlines() if line.startswith("| ")]
    assert "| 1 seeds x 40 test documents |" in said
    assert run(project, "git", "status", "--short", "params.yaml") == ""
