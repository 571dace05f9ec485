"""Runs as DVC shows them, and which run fills which row of the paper's tables."""

import json
from math import inf

import pytest
from click.testing import CliRunner

from brido.report.metrics import Estimate
from experiments import paper_tables
from experiments.paper import ALPHA, ETA
from experiments.paper_tables import command, filled, notes, run_of, tables_for
from experiments.runs import Run, compared, find_base, find_run, parse_runs, stale_keys

XSUM = {
    "data.source": "hub",
    "data.hub.id": "EdinburghNLP/xsum",
    "generation.base.num_candidates": 32,
    ETA: 0.1,
    ALPHA: 0,
}
WORLD = {"data.source": "world", "generation.base.num_candidates": 16, ETA: 0.1, ALPHA: 0}
BOTH = ("base", "vote")


def estimates(r1):
    return {
        "rouge": {"r1": Estimate(r1, r1 - 1, r1 + 1, 500)},
        "extractiveness": {"length": Estimate(17.0, 16.5, 17.5, 500)},
    }


def run(name, params, r1, **changes):
    systems = {"reference": {}, "base": estimates(50), "vote": estimates(r1)}
    return Run(name, params | changes, systems)


def xsum_runs():
    return [
        run("workspace", XSUM, 47.0),
        run("wrong-seed", XSUM | {"training.seed": 1}, 99.0, **{ETA: 0.3}),
        run("eta", XSUM, 46.0, **{ETA: 0.3}),
        run("half", XSUM, 48.0, **{ETA: 0.3, ALPHA: 31}),
        run("brio", XSUM, 44.0, **{ALPHA: inf}),
    ]


def shown(name, alpha, **more):
    params = {"scoring": {"alpha": alpha}, "runtime": {"x": name}}
    data = {"params": {"params.yaml": {"data": params}}}
    return {"rev": name, "name": name, "error": None, "experiments": None, "data": data, **more}


def kept(r1):
    systems = {name: {"rouge": {"r1": vars(Estimate(r1, r1 - 1, r1 + 1, 9))}} for name in BOTH}
    return json.dumps({"systems": systems})


def test_runs_come_from_what_dvc_shows_and_their_numbers_from_git():
    inner = {"revs": [shown("abc", "inf")], "name": "alpha-inf", "executor": None}
    failed = {
        "revs": [{"rev": "bad", "name": "broken", "data": None, "error": {"msg": "boom"}}],
        "name": "broken",
    }
    running = {"revs": [shown("now", 1)], "name": "now", "executor": {"state": "running"}}
    bare = {"revs": [shown("bare", 2)], "name": "bare", "executor": None}
    experiments = [inner, failed, running, bare]
    output = [shown("workspace", 0), shown("main", 0, experiments=experiments)]
    files = {("workspace", 47.0), ("abc", 44.0), ("now", 47.0)}
    files = {(name, "metrics/intervals.json"): kept(r1) for name, r1 in files}
    runs = parse_runs(output, lambda *place: files.get(place))
    assert [item.name for item in runs] == ["workspace", "main", "abc", "broken", "now", "bare"]
    assert runs[2].params == {"scoring.alpha": inf}
    for system in BOTH:
        assert runs[2].systems[system]["rouge"]["r1"] == Estimate(44.0, 43.0, 45.0, 9)
    assert runs[3].broken == "boom"
    # What stands beside a running experiment are the metrics of the commit below it.
    assert (runs[4].broken, runs[4].systems) == ("it is running", {})
    assert runs[5].broken == "it has no metrics"


LOCKED = """
stages:
  score: {params: {params.yaml: {scoring: {alpha: 5}}}}
  gone@brio: {params: {params.yaml: {decoding: {num_beams: 4}}}}
  decode@vote: {params: {params.yaml: {decoding: {num_beams: 8}, checkpoints.old: {a: 1}}}}
"""


def test_metrics_of_other_params_are_not_used():
    files = {"dvc.lock": LOCKED, "metrics/intervals.json": kept(47.0)}
    runs = parse_runs([shown("workspace", 6)], lambda _, path: files.get(path))
    assert "scoring.alpha" in runs[0].broken
    assert stale_keys({"scoring.alpha": 5.0, "decoding.num_beams": 8, "x": 1}, LOCKED) == []
    assert stale_keys({"decoding.num_beams": 9}, LOCKED) == ["decoding.num_beams"]
    assert stale_keys({"scoring.alpha": 6}, None) == []
    # What changes no number is not compared, and infinity is a number.
    raw = {"a": {"b": ".inf"}, "runtime": {"x": 2}, "report": {"seed": 1}}
    assert compared(raw) == {"a.b": inf}


def test_base_may_come_from_any_run_on_the_same_data():
    stale = Run("workspace", XSUM, {}, "its metrics are of other params (scoring.alpha)")
    runs = [stale, *xsum_runs()[2:]]
    assert find_base(runs).name == "eta"
    assert find_base([stale, run("elsewhere", XSUM, 40.0, **{"data.hub.id": "my/own"})]) is None
    assert by_label(runs, 2)["PEGASUS"]["R-1"].startswith("50.00")


def test_a_row_takes_the_run_that_differs_only_as_the_row_says():
    runs = xsum_runs()
    assert find_run(runs, {ETA: 0.3}).name == "eta"
    assert find_run(runs, {}).name == "workspace"
    assert find_run(runs, {ETA: 3.0}) is None
    # Without BRIO's checkpoint its method stands for it.
    assert run_of(tables_for(runs)[1].rows[1], runs)[0].name == "brio"


def by_label(runs, number):
    return filled(tables_for(runs)[number - 1], runs).set_index("").to_dict("index")


def test_xsum_tables_hold_ours_and_the_papers_numbers():
    runs = xsum_runs()
    table = by_label(runs, 4)
    assert table["BRIDO η = 0.3, α = 31"]["R-1"] == "48.00 [47.0…49.0]"
    paper = table["paper: BRIDO η = 0.3, α = 31"]
    assert (paper["R-1"], paper["consistency"]) == ("47.44", "3.91")
    assert by_label(runs, 1)["paper: BRIO"]["LERC"] == "1.927"
    assert by_label(runs, 2)["paper: BRIO"]["R-1"] == "48.86"
    said = list(notes(tables_for(runs), runs))
    assert any("Table 4" in line and "α = 1, BRIDO η = 0.3, α = ∞" in line for line in said)
    assert any("wrong-seed" in line and "training.seed" in line for line in said)


@pytest.mark.parametrize(("dataset", "count"), [("EdinburghNLP/xsum", 6),
                                                ("abisee/cnn_dailymail", 8)])  # fmt: skip
def test_every_number_of_the_paper_is_in_its_tables(dataset, count):
    tables = tables_for([run("workspace", XSUM, 47.0, **{"data.hub.id": dataset})])
    rows = [row for table in tables[1:] for row in table.rows]
    assert len({row.label for row in rows if row.system == "vote"}) == count
    assert all(len(row.paper) == 9 for row in rows)


def test_on_other_data_what_was_run_has_a_row_and_nothing_is_dropped_without_a_word():
    runs = [
        run("workspace", WORLD, 60.0),
        run("half-of-32", WORLD, 61.0, **{ALPHA: 31}),
        run("other-seed", WORLD, 62.0, **{"training.seed": 1}),
        Run("failed", WORLD, {}, "boom"),
    ]
    assert by_label(runs, 4)["BRIDO η = 0.1, α = 31"]["R-1"].startswith("61.00")
    assert by_label(runs, 2)["BRIDO α = 0"]["Extractiveness: words"].startswith("17.0")
    lines = list(notes(tables_for(runs), runs))
    assert any("other-seed" in line and "training.seed" in line for line in lines)
    assert any("failed" in line and "boom" in line for line in lines)
    assert not any("half-of-32" in line for line in lines)


def test_the_command_prints_markdown_or_latex_and_refuses_runs_without_numbers(monkeypatch):
    monkeypatch.setattr(paper_tables, "read_runs", xsum_runs)
    assert "| BRIDO η = 0.3, α = 31" in CliRunner().invoke(command).stdout
    text = CliRunner().invoke(command, ["--tex"]).stdout
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
    monkeypatch.setattr(paper_tables, "read_runs", lambda: [Run("workspace", {}, {}, "it is new")])
    assert "workspace: it is new" in str(CliRunner().invoke(command).exception)
