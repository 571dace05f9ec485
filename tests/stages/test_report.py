"""The report stage on synthetic tables: what it writes, what it prints, what it refuses."""

import csv
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import synthetic_run
from ruamel.yaml import YAML

from brido.settings.load import load_params
from brido.tables import DECODED, read_rows, write_table
from brido.tables.fingerprint import base_of
from stages import report
from stages.seconds import SHOWN_LATER

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    synthetic_run.write_run(folder, documents=12, count=8)
    synthetic_run.write_params(
        folder,
        report={"bootstrap_samples": 50, "page_documents": 5, "length_warning": 0.0001},
        scoring={"alpha": 7},
    )
    return folder


@pytest.fixture
def project(tables, tmp_path):
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    return tmp_path


def all_bytes(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("metrics", "report")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def finished(tables, tmp_path_factory):
    """A project after `python -m stages.report` in a process of its own, and what it printed."""
    folder = tmp_path_factory.mktemp("finished")
    shutil.copytree(tables, folder, dirs_exist_ok=True)
    command = [sys.executable, "-m", "stages.report"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_writes_everything_and_the_same_bytes_twice(finished, project, monkeypatch, capsys):
    folder, printed = finished
    written = all_bytes(folder)
    assert list(written) == [
        "metrics/choice.json", "metrics/curves.csv", "metrics/headline.json",
        "metrics/intervals.json", "metrics/training/control.csv", "metrics/training/vote.csv",
        "report/index.html", "report/model_card.md",
    ]  # fmt: skip
    monkeypatch.chdir(project)
    report.report(load_params())
    assert all_bytes(project) == written
    capsys.readouterr()
    report.show()
    assert capsys.readouterr().out == printed


def test_numbers_are_those_of_the_tables_and_finite(finished):
    folder, _ = finished
    every = json.loads((folder / "metrics/intervals.json").read_text())["systems"]
    for system in synthetic_run.SYSTEMS:
        numbers = every[system]
        for metric, names in synthetic_run.SUBMETRICS.items():
            table = pq.read_table(folder / f"data/evaluation/{system}/test.parquet").to_pydict()
            for name in names:
                there = [value for value in table[f"{metric}.{name}"] if value is not None]
                found = numbers.get(metric, {}).get(name)
                if there:
                    assert found["mean"] == pytest.approx(sum(there) / len(there), abs=1e-6)
                    assert math.isfinite(found["mean"])
                else:
                    assert found is None


def test_what_dvc_compares_are_numbers_of_base_the_kept_system_and_the_control(finished):
    folder, _ = finished
    compared = json.loads((folder / "metrics/headline.json").read_text())
    assert list(compared) == ["base", "chosen", "control"]
    kept = json.loads((folder / "metrics/intervals.json").read_text())
    own = kept["systems"]["vote"]
    places = {"good": "mentions", "unsupported": "mentions", "r1": "rouge", "r2": "rouge"}
    assert {key: compared["chosen"][key] for key in places} == {
        key: own[metric][key]["mean"] for key, metric in places.items()
    }
    assert "length" not in compared["chosen"]
    assert compared["chosen"]["words"] == own["extractiveness"]["length"]["mean"]
    gap = dict(kept["differences"]["vote - control"]["rouge"]["r1"])
    del gap["documents"]
    assert compared["chosen"]["minus_control"]["r1"] == gap
    assert list(compared["chosen"]["minus_base"]) == ["good", "unsupported", "r1", "words"]
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
    # With a commit come its page and its card from DVC's cache, and its numbers from Git.
    assert {"report/index.html", "report/model_card.md"} == {
        out for out in stages["report"]["outs"] if isinstance(out, str)
    }
    assert [stage["metrics"] for stage in stages.values() if "metrics" in stage] == [
        [{"metrics/headline.json": {"cache": False}}]
    ]


def test_every_curve_that_dvc_plots_is_written(finished):
    with (finished[0] / "metrics/curves.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["system"], row["update"]) for row in rows] == [
        ("vote", "0"), ("vote", "5"), ("control", "0"), ("control", "5"),
    ]  # fmt: skip
    plots = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["plots"]
    for plot in plots:
        ((name, shown),) = plot.items()
        assert shown["x"]["metrics/curves.csv"] in rows[0]
        assert shown["y"] == {"metrics/curves.csv": name}
        assert name in rows[0]
        assert (ROOT / f".dvc/plots/{shown['template']}.json").is_file()


def test_a_chosen_variant_stands_beside_the_control_as_in_the_verdict(project, monkeypatch):
    for path in (project / "data/evaluation/vote", project / "data/decoded/vote"):
        shutil.copytree(path, path.with_name("guided"))
    synthetic_run.write_params(project, variants={"guided": {"checkpoint": "base"}})
    synthetic_run.choose(project, "guided")
    monkeypatch.chdir(project)
    report.report(load_params())
    compared = json.loads((project / "metrics/headline.json").read_text())
    assert "minus_control" in compared["chosen"]
    assert list(compared) == ["base", "chosen", "control"]


def test_the_numbers_say_which_base_they_belong_to(finished, tmp_path):
    folder, printed = finished
    base = json.loads((folder / "metrics/intervals.json").read_text())["base"]
    assert f"base {base}." in printed
    assert f"base {base}." in (folder / "report/index.html").read_text()
    # Other summaries are another base; another score of the same ones, or another writer, is not.
    own = folder / "data/decoded/base/validation.parquet"
    assert base_of(own) == base
    rows = read_rows(own, DECODED, "")
    copy = tmp_path / "copy.parquet"
    write_table(copy, [[{**row, "score": 9.0} for row in rows]], DECODED, {"other": 1})
    assert base_of(copy) == base
    write_table(copy, [[{**rows[0], "summary": "Another."}, *rows[1:]]], DECODED)
    assert base_of(copy) != base


def test_signatures_intervals_and_the_last_lines(finished):
    folder, printed = finished
    kept = json.loads((folder / "metrics/intervals.json").read_text())
    signature = {"implementation": "rouge", "version": "1", "n": 12}
    assert kept["signatures"]["vote"]["rouge"] == signature
    gap = kept["differences"]["vote - base"]["rouge"]["r1"]
    assert gap["low"] <= gap["mean"] <= gap["high"]
    assert kept["bootstrap"] == {"samples": 50, "confidence": 0.95, "seed": 0}
    assert kept["sources"] == {}
    lines = printed.splitlines()
    rows = [line.split()[0] for line in lines if line[:1].isalpha()]
    assert rows[:7] == ["reference", "base", "vote", "control", "vote", "control", "vote"]
    assert any(line.startswith("warning: Summaries of vote are") for line in lines)
    assert "Sources" not in printed
    # The verdict is the last thing on the screen.
    assert lines[-3:-1] == synthetic_run.VERDICT
    assert lines[-1].startswith("Use it:")


def test_the_tables_are_printed_once_where_they_are_shown_at_the_end(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    monkeypatch.setattr("sys.argv", ["stages.report"])
    monkeypatch.setenv(SHOWN_LATER, "1")
    report.main()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.argv", ["stages.report", "--show"])
    report.main()
    assert "Use it:" in capsys.readouterr().out


def test_page_holds_a_seeded_sample_with_exact_marks(finished):
    project, _ = finished
    data = synthetic_run.page_data(project / "report/index.html")
    assert len(data["documents"]) == 5
    assert (data["focus"], data["alpha"]) == ("vote", 7)
    corpus = pq.read_table(project / "data/corpus/test.parquet").to_pylist()
    towns = {row["id"]: row["facts"][0]["value"] for row in corpus}
    marks = 0
    for document in data["documents"]:
        for candidate in document["candidates"]:
            for text, *mark in candidate["parts"]:
                if mark:
                    assert mark == [int(text == towns[document["id"]]), "town"]
                    marks += 1
    assert marks > 20


def test_the_page_shows_the_documents_of_the_numbers_if_they_have_candidates(project, monkeypatch):
    monkeypatch.chdir(project)
    shown = {}
    for split, documents in (("test", None), ("validation", 0)):
        synthetic_run.write_params(project, documents={"test": documents})
        report.report(load_params())
        page = (project / "report/index.html").read_text()
        assert f"of the {split} documents." in page
        shown[split] = [
            each["id"] for each in synthetic_run.page_data(project / report.PAGE)["documents"]
        ]
    assert all(name.startswith("test") for name in shown["test"])
    assert all(name.startswith("validation") for name in shown["validation"])
