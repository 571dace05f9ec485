"""Studies: their plans, the rows of a run, and a small study that is stopped and goes on."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dvc_project import SMALL
from ruamel.yaml import YAML

from brido.settings.presets import flatten
from brido.tables import DECODED, write_table
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError
from experiments import plan, replay, study
from experiments.rows import by_run, collect, make_rows, marked, read_rows, write_rows

ROOT = Path(__file__).parents[2]
PLANS = Path("experiments/plans")
NAMES = sorted(path.stem for path in (ROOT / PLANS).glob("*.yaml"))


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def write_plan(folder: Path, **keys) -> Path:
    path = folder / "small.yaml"
    content = {"preset": "default", "seeds": [3, 4], "settings": {"one": None}} | keys
    YAML().dump(content, path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_has_each_run_once_and_its_rows_are_of_its_settings(name):
    found = plan.read_plan(PLANS / f"{name}.yaml")
    assert len({found.folder(run) for run in found.runs}) == len(found.runs)
    for run in found.runs:
        used = flatten(run.params)
        assert {used[key] for key in plan.SEEDS if key in used} == {run.seed}
    rows = read_rows(found.table)
    assert set(rows.setting) <= {run.setting for run in found.runs}
    assert set(rows.setting) <= study.read_settings(found.recorded).keys()
    study.check_settings(found)


def test_a_plan_s_unknown_key_and_impossible_value_are_named(tmp_path):
    with pytest.raises(BridoError, match="scoring.alpah"):
        plan.read_plan(write_plan(tmp_path, changes={"scoring.alpah": 1}))
    with pytest.raises(BridoError, match=r"training\.epochs"):
        plan.read_plan(write_plan(tmp_path, settings={"one": {"changes": {"training.epochs": -1}}}))


def test_seeds_and_environments_of_settings(tmp_path):
    settings = {"one": {"seeds": [5]}, "two": {"environment": {"A": 1}}}
    runs = plan.read_plan(write_plan(tmp_path, settings=settings, environment={"B": 2})).runs
    assert [(run.setting, run.seed) for run in runs] == [("one", 5), ("two", 3), ("two", 4)]
    assert runs[1].environment == {"A": "1", "B": "2"}


def table(path: Path, **columns) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"id": ["a", "b", "c"]} | columns
    pq.write_table(pa.table(arrays), path)


def finished(folder: Path, known: bool = True) -> Path:
    """A folder as `dvc repro` leaves it: three documents, base alone."""
    data = folder / "data"
    columns: dict[str, object] = {
        "rouge.r1": [10.0, 20.0, 60.0],
        "rouge.r2": [1.0, 2.0, 3.0],
        "mentions.unsupported": [0.0, 1.0, 0.0],
        "mentions.details": [2.0, 4.0, 0.0],
        "mentions.precision": [1.0, 0.5, None],
        "mentions.whole": pa.array([None] * 3, pa.float64()),
        "mentions.good": pa.array([None] * 3, pa.float64()),
    }
    if known:
        columns |= {
            "world_judge.whole": [1.0, 1.0, 0.0],
            "world_judge.good": [1.0, 0.0, 0.0],
            "world_judge.sound": [1.0, 0.0, 0.5],
        }
    table(data / "evaluation/base/test.parquet", **columns)
    texts = [("a", "one two three"), ("b", "one"), ("c", "one two")]
    rows = [{"id": name, "summary": text, "score": 0.0} for name, text in texts]
    path = data / "decoded/base/test.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, [rows], DECODED, {})
    return folder


@pytest.mark.parametrize(("known", "marks"), [(True, "630"), (False, "898")])
def test_rows_are_what_the_tables_of_a_run_say(tmp_path, known, marks):
    (row,) = collect(finished(tmp_path, known), "one", 3).itertuples(index=False)
    assert tuple(row)[:6] == ("one", 3, "base", "test", 2.0, 30.0)
    assert (row.r2, row.details, row.supported, row.marks) == (2.0, 2.0, 0.75, marks)
    assert row.sound == 0.5 if known else np.isnan(row.sound)
    assert marked(row, "unsupported").tolist() == [0, 1, 0]
    if known:
        assert marked(row, "whole").tolist() == [1, 1, 0]
        assert marked(row, "good").tolist() == [1, 0, 0]
    else:
        assert np.isnan(marked(row, "good")).all()


def test_a_row_has_the_last_update_of_its_system(tmp_path):
    folder = finished(tmp_path)
    assert np.isnan(collect(folder, "one", 3).tau).all()
    write_text(
        folder / "metrics/curves.csv",
        "system,update,tau,log_p_elected,log_p_rest\n"
        "base,0,0.1,-1,-1\nbase,5,0.3,-0.5,-0.75\nvote,5,0.9,0,0\n",
    )
    (row,) = collect(folder, "one", 3).itertuples(index=False)
    assert (row.tau, row.lead) == (0.3, 0.25)


def test_names_are_read_as_they_were_written_and_a_run_without_base_has_no_choice(tmp_path):
    run = {"setting": "1", "seed": 3, "system": "null", "split": "test", "marks": "012"}
    write_rows(tmp_path / "rows.csv", make_rows([run]))
    rows = read_rows(tmp_path / "rows.csv")
    assert by_run(rows)["1", 3]["null"].marks == "012"
    assert replay.options(rows) == []


def test_rows_are_kept_once_and_not_under_other_settings(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "EVIDENCE", tmp_path / "kept")
    found = plan.read_plan(write_plan(tmp_path))
    folder = finished(tmp_path / "run")
    for run in (found.runs[1], found.runs[0]):
        study.keep(found, run, folder)
    assert read_rows(found.table).seed.tolist() == [3, 4]
    other = plan.read_plan(write_plan(tmp_path, changes={"scoring.alpha": 31}))
    with pytest.raises(BridoError, match=r"one: scoring\.alpha$"):
        study.run_plan(other, 1)


@pytest.mark.slow
def test_a_small_study_goes_on_and_keeps_the_rows_of_its_run(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "EVIDENCE", tmp_path / "kept")
    monkeypatch.setattr(plan, "WORK", tmp_path / "work")
    monkeypatch.setattr(study, "WORK", tmp_path / "work")
    changes = SMALL | {
        "checkpoints.base.embedded.world.documents": 200,
        "evaluation.metrics": ["rouge", "mentions", "world_judge"],
        "tuned": {"vote": {}},
    }
    variants = {"short": {"checkpoint": "base", "length_penalty": -4.0}}
    path = write_plan(tmp_path, seeds=[3], changes=changes | {"variants": variants})
    found = plan.read_plan(path)
    (run,) = found.runs
    folder = found.folder(run)
    # A stage fails, the cause is mended, and the study goes on.
    folder.mkdir(parents=True)
    (folder / "data").write_text("in the way")
    with pytest.raises(BridoError, match="one-seed-3: see"):
        study.run_plan(found, 1)
    (folder / "data").unlink()
    study.run_plan(found, 1)
    rows = read_rows(found.table)
    assert set(rows.system) == {"reference", "base", "elected", "vote", "short"}
    assert len(by_run(rows, "validation")["one", 3]["vote"].marks) == 40
    # The replay keeps what the run kept, by the same settings.
    chosen = json.loads((folder / "metrics/choice.json").read_text())["chosen"]
    (options,) = replay.options(rows)
    assert replay.by_default(options) == chosen
    study.run_plan(found, 1)
    assert read_rows(found.table).equals(rows)
    # A finished stage does not run again: Python's caches beside the code do not count as a change.
    before = len((folder / "log").read_text())
    assert study.repro(found, run)[0] == 0
    assert "Running stage" not in (folder / "log").read_text()[before:]
