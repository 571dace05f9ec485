"""Runs as DVC shows them, which run fills which row, and the tables in every format."""

import io
import json

import pytest
from rich.console import Console

from brido.report.metrics import Estimate
from brido.utils.errors import BridoError
from experiments.curves import draw_curves, varied
from experiments.grid import dataset_of
from experiments.paper_fill import fill, filled_tables, layouts_for, notes
from experiments.paper_layouts import ALPHA, ETA, paper_layouts
from experiments.paper_tables import as_tex, rich_table
from experiments.runs import (
    Run,
    compared,
    different_bases,
    find_base,
    find_run,
    parse_runs,
    same_params,
    stale_keys,
)

INFINITY = float("inf")
XSUM = {
    "data.source": "hub",
    "data.hub.id": "EdinburghNLP/xsum",
    "generation.base.num_candidates": 32,
    ETA: 0.1,
    ALPHA: 0,
}
WORLD = {"data.source": "world", "generation.base.num_candidates": 16, ETA: 0.1, ALPHA: 0}


def estimates(r1, consistency=3.5):
    return {
        "rouge": {"r1": Estimate(r1, r1 - 1, r1 + 1, 500)},
        "geval": {"consistency": Estimate(consistency, consistency, consistency, 0)},
        "extractiveness": {"length": Estimate(17.0, 16.5, 17.5, 500)},
    }


def run(name, params, r1, base="", **changes):
    systems = {"reference": {}, "base": estimates(50), "tuned": estimates(r1)}
    return Run(name, params | changes, systems, base=base)


def xsum_runs():
    return [
        run("workspace", XSUM, 47.0),
        run("wrong-seed", XSUM | {"training.seed": 1}, 99.0, **{ETA: 0.3}),
        run("eta", XSUM, 46.0, **{ETA: 0.3}),
        run("half", XSUM, 48.0, **{ETA: 0.3, ALPHA: 31}),
        run("brio", XSUM, 44.0, **{ALPHA: "inf"}),
    ]


def shown(name, alpha, **more):
    return {
        "rev": name,
        "name": None if name == "workspace" else name,
        "error": None,
        "experiments": None,
        "data": {
            "params": {
                "params.yaml": {"data": {"scoring": {"alpha": alpha}, "runtime": {"x": name}}}
            },
            "metrics": {"metrics/tuned.json": {"data": {"base": "aaaa"}}},
        },
        **more,
    }


def kept(base, r1):
    systems = {name: {"rouge": {"r1": vars(Estimate(r1, r1 - 1, r1 + 1, 9))}} for name in BOTH}
    return json.dumps({"systems": systems, **base})


BOTH = ("base", "tuned")


def test_runs_come_from_what_dvc_shows_and_their_numbers_from_git():
    inner = {"revs": [shown("abc", INFINITY)], "name": "alpha-inf", "executor": None}
    failed = {
        "revs": [{"rev": "bad", "name": "broken", "data": None, "error": {"msg": "boom"}}],
        "name": "broken",
    }
    running = {"revs": [shown("now", 1)], "name": "now", "executor": {"state": "running"}}
    bare = {"revs": [shown("bare", 2)], "name": "bare", "executor": None}
    experiments = [inner, failed, running, bare]
    output = [shown("workspace", 0), shown("main", 0, experiments=experiments)]
    files = {
        ("workspace", "metrics/intervals.json"): kept({}, 47.0),
        ("abc", "metrics/intervals.json"): kept({"base": "aaaa"}, 44.0),
        ("now", "metrics/intervals.json"): kept({"base": "aaaa"}, 47.0),
    }
    runs = parse_runs(output, lambda *place: files.get(place))
    assert [item.name for item in runs] == ["workspace", "main", "abc", "broken", "now", "bare"]
    assert runs[2].params == {"scoring.alpha": INFINITY}
    for system in BOTH:
        assert runs[2].systems[system]["rouge"]["r1"] == Estimate(44.0, 43.0, 45.0, 9)
    assert [item.base for item in runs[:3:2]] == ["", "aaaa"]
    assert runs[3].broken == "boom"
    # What stands beside a running experiment are the metrics of the commit below it.
    assert (runs[4].broken, runs[4].systems) == ("it is running", {})
    assert runs[5].broken == "it has no metrics"


LOCKED = """
stages:
  score: {params: {params.yaml: {scoring: {alpha: 5}}}}
  gone@brio: {params: {params.yaml: {decoding: {num_beams: 4}}}}
  decode@tuned: {params: {params.yaml: {decoding: {num_beams: 8}, checkpoints.old: {a: 1}}}}
"""


def test_metrics_of_other_params_are_not_used():
    files = {"dvc.lock": LOCKED, "metrics/intervals.json": kept({}, 47.0)}
    runs = parse_runs([shown("workspace", 6)], lambda _, path: files.get(path))
    assert runs[0].broken == "its metrics are of other params (scoring.alpha)"
    assert stale_keys({"scoring.alpha": 5, "decoding.num_beams": 8, "x": 1}, LOCKED) == []
    assert stale_keys({"scoring.alpha": 5, "decoding.num_beams": 9}, LOCKED) == [
        "decoding.num_beams"
    ]
    assert stale_keys({"scoring.alpha": 6}, None) == []


def test_base_may_come_from_any_run_on_the_same_data():
    stale = Run("workspace", XSUM, {}, "its metrics are of other params (scoring.alpha)")
    runs = [stale, *xsum_runs()[2:]]
    assert find_base(runs).name == "eta"
    other = [stale, run("elsewhere", XSUM, 40.0, **{"data.hub.id": "my/own"})]
    assert find_base(other) is None
    assert by_label(table_of(runs, 2))["PEGASUS", True].numbers["rouge", "r1"].mean == 50
    assert "PEGASUS" in [row.label for row in table_of(other, 2).missing]


def test_settings_are_compared_as_meant():
    raw = {"a": {"b": 1}, "runtime": {"x": 2}, "report": {"seed": 1}}
    assert compared(raw) == {"a.b": 1}
    assert same_params({"x": 1, "y": INFINITY}, {"x": 1.0, "y": ".inf"})
    assert not same_params({"x": 1}, {"x": 2})
    assert not same_params({"x": 1}, {"x": 1, "y": 2})


def test_a_row_takes_the_run_that_differs_only_as_the_row_says():
    runs = xsum_runs()
    assert find_run(runs, {ETA: 0.3}).name == "eta"
    assert find_run(runs, {ALPHA: INFINITY}).name == "brio"
    assert find_run(runs, {}).name == "workspace"
    assert find_run(runs, {ETA: 3.0}) is None
    assert [value for value, _ in varied(runs, ALPHA)] == [0, INFINITY]
    assert [item.name for _, item in varied(runs, ETA)] == ["workspace", "eta"]


def table_of(runs, number):
    return fill(layouts_for(runs)[number - 1], runs)


def by_label(table):
    return {(row.label, row.run is not None): row for row in table.rows}


def shown_in(table):
    console = Console(file=io.StringIO(), width=250)
    console.print(rich_table(table))
    return console.file.getvalue()


def test_xsum_tables_hold_ours_and_the_papers_numbers():
    table = table_of(xsum_runs(), 4)
    half = by_label(table)["BRIDO η = 0.3, α = 31", True]
    assert half.run.name == "half"
    assert half.numbers["rouge", "r1"].mean == 48.0
    paper = by_label(table)["BRIDO η = 0.3, α = 31", False].numbers
    assert paper["rouge", "r1"].mean == 47.44
    assert paper["geval", "consistency"].mean == 3.91
    # Best consistency of the paper's Table 4 at alpha 31, best average at alpha 0: as printed.
    marks = table.marks(ours=False)
    assert marks["BRIDO η = 0.3, α = 31", ("geval", "consistency")] == "best"
    assert marks["BRIDO η = 0.3, α = 0", ("geval", "average")] == "best"
    assert ("BRIDO η = 0.3, α = 1", ("geval", "average")) not in marks


def test_rows_without_a_run_are_one_line_with_the_command_that_fills_them():
    runs = xsum_runs()
    table = table_of(runs, 4)
    assert [row.label for row in table.missing] == ["BRIDO η = 0.3, α = 1", "BRIDO η = 0.3, α = ∞"]
    (line,) = notes([table], runs)
    assert "η = 0.3, α = 1, BRIDO η = 0.3, α = ∞" in line
    assert "make sweep GRIDS=experiments/grids/paper-xsum.yaml" in line


def test_no_run_is_dropped_without_a_word():
    """An alpha of its own gets a row; a run that differs in more is named with its keys."""
    runs = [
        run("workspace", WORLD, 60.0),
        run("half-of-32", WORLD, 61.0, **{ALPHA: 31}),
        run("other-seed", WORLD, 62.0, **{"training.seed": 1}),
        Run("failed", WORLD, {}, "boom"),
    ]
    tables = filled_tables(runs)
    assert by_label(tables[3])["α = 31", True].run.name == "half-of-32"
    lines = notes(tables, runs)
    assert any("other-seed" in line and "training.seed" in line for line in lines)
    assert any("failed" in line and "boom" in line for line in lines)
    assert not any("half-of-32" in line for line in lines)


def test_rows_of_different_bases_stand_together_only_with_a_line_that_says_so():
    runs = [
        run("workspace", XSUM, 47.0, base="aaaa"),
        run("half", XSUM, 48.0, base="bbbb", **{ETA: 0.3, ALPHA: 31}),
        run("eta", XSUM, 46.0, base="aaaa", **{ETA: 0.3}),
    ]
    table = table_of(runs, 4)
    assert "(bbbb: half; aaaa: eta)" in notes([table], runs)[-1] or (
        "(aaaa: eta; bbbb: half)" in notes([table], runs)[-1]
    )
    # Numbers of an older version do not say which base they belong to.
    assert different_bases([runs[0], run("old", XSUM, 46.0)]) != ""
    assert different_bases([run("old", XSUM, 46.0), run("older", XSUM, 45.0)]) == ""


def test_table_one_has_the_worst_in_italics_and_the_preliminary_numbers():
    table = table_of(xsum_runs(), 1)
    brio = by_label(table)["BRIO", False].numbers
    assert brio["qafacteval", "lerc"].mean == 1.927
    assert brio["qafacteval", "is_answered"].mean == 60.8
    assert table.marks(ours=False)["reference", ("qafacteval", "lerc")] == "worst"
    assert "worst" not in table_of(xsum_runs(), 2).marks(ours=False).values()


def test_every_number_of_the_paper_is_in_its_tables():
    for dataset, count in (("xsum", 6), ("cnndm", 8)):
        layouts = paper_layouts(dataset)
        labels = {
            row.label for layout in layouts[1:] for row in layout.rows if row.system == "tuned"
        }
        assert len(labels) == count
        assert [layout.number for layout in layouts] == [1, 2, 3, 4]
        for row in (*layouts[1].rows, *layouts[2].rows, *layouts[3].rows):
            assert len(row.paper) == 9, row


def test_the_world_stands_in_with_its_own_checks_under_their_own_names():
    item = run("workspace", WORLD, 60.0)
    for system in item.systems.values():
        system.pop("geval", None)
        system["world_qa"] = {"f1": Estimate(60, 59, 61, 500)}
        system["world_judge"] = {"consistency": Estimate(4.2, 4.1, 4.3, 500)}
    table = table_of([item], 2)
    assert ("world_qa", "f1") in table.columns
    assert ("geval", "consistency") not in table.columns
    assert "World judge" in shown_in(table)
    assert all(row.run for row in table.rows)
    assert dataset_of(WORLD) == "world"
    assert dataset_of({"data.source": "files"}) == "own"


def test_formats_agree():
    tables = filled_tables(xsum_runs())
    assert "48.00^" in shown_in(tables[3])
    text = as_tex(tables)
    assert r"\textbf{48.00} {\scriptsize 47.0\,--\,49.0}" in text
    assert r"$\eta$ = 0.3, $\alpha$ = 31" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4


def test_curves_are_drawn_for_what_varies(tmp_path):
    assert [path.name for path in draw_curves(tmp_path, xsum_runs())] == ["alpha.png", "eta.png"]
    assert (tmp_path / "alpha.png").stat().st_size > 1000
    assert draw_curves(tmp_path / "none", [run("workspace", WORLD, 60.0)]) == []


def test_no_metrics_no_tables():
    with pytest.raises(BridoError, match="workspace: it has no metrics"):
        filled_tables([Run("workspace", {}, {}, "it has no metrics")])
