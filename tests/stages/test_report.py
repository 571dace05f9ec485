"""Stage report on the finished run: its numbers, what it prints, and whose documents it shows."""

import json

import finished_run
import pyarrow.parquet as pq
import pytest
import synthetic_run

from brido.settings.load import load_params
from brido.tables import read_rows
from brido.utils.errors import BridoError
from stages import choose as stage_choose
from stages import paths, report

INTERVALS, HEADLINE = paths.METRICS / "intervals.json", paths.METRICS / "headline.json"


def kept(path):
    return json.loads(path.read_text())


@pytest.fixture
def read(finished_run, monkeypatch):
    """The finished run as the present folder; nothing in it may be changed."""
    monkeypatch.chdir(finished_run)


def choose(system):
    """As if stage choose had chosen a system."""
    paths.CHOICE.write_text(json.dumps(kept(paths.CHOICE) | {"chosen": system}))


def test_numbers_are_those_of_the_tables_and_finite(read):
    every = kept(INTERVALS)
    for system in load_params().all_systems:
        table = pq.read_table(paths.evaluation(system)).to_pydict()
        numbers = every["systems"][system]
        for column in set(table) - {"id", "detail"}:
            metric, _, name = column.partition(".")
            there = [value for value in table[column] if value is not None]
            found = numbers.get(metric, {}).get(name)
            assert (found is None) == (not there), column
            if there:
                assert found["mean"] == pytest.approx(sum(there) / len(there), abs=1e-6)
                assert found["low"] <= found["mean"] <= found["high"]
                assert found["documents"] == len(there)
    assert every["signatures"]["vote"]["rouge"]["implementation"] == "rouge_score"
    assert every["bootstrap"] == {"samples": 50, "confidence": 0.95, "seed": 0}
    assert every["sources"] == {}


def test_a_run_that_trains_no_order_has_a_choice_a_page_and_no_curves(finished):
    finished_run.write_params(finished, tuned={})
    params = load_params()
    stage_choose.main()
    report.report(params)
    assert kept(paths.CHOICE)["control"] is None
    assert set(kept(INTERVALS)["systems"]) == set(params.all_systems)
    heading, *rows = (paths.METRICS / "curves.csv").read_text().splitlines()
    assert heading.startswith("system,update,")
    assert rows == []
    assert report.PAGE.is_file()


def test_sources_of_candidates_are_shown_where_there_are_several(finished, capsys):
    report.show()
    assert "Sources of the candidates" not in capsys.readouterr().out
    of_each = {"elected": 0.25, "distinct": 2.0, "alike": None, "agreement": 0.5}
    INTERVALS.write_text(json.dumps(kept(INTERVALS) | {"sources": {"near": of_each}}))
    report.show()
    said = capsys.readouterr().out.partition("Sources of the candidates")[2]
    assert "near 25.0 % 2.0 – 0.500" in " ".join(said.split())


def test_numbers_that_cannot_be_printed_name_the_stage_that_makes_them(finished, capsys):
    report.show()
    assert kept(paths.CHOICE)["verdict"][0].split()[0] in capsys.readouterr().out
    INTERVALS.write_text(json.dumps(kept(INTERVALS) | {"systems": {"base": "good"}}))
    with pytest.raises(BridoError, match=r"intervals\.json is damaged .*dvc repro -sf report"):
        report.show()
    INTERVALS.unlink()
    with pytest.raises(BridoError, match="dvc repro report"):
        report.show()


def test_a_verdict_that_cannot_be_printed_names_the_stage_that_makes_it(finished):
    paths.CHOICE.write_text(json.dumps(kept(paths.CHOICE) | {"table": [1]}))
    with pytest.raises(BridoError, match=r"choice\.json is damaged .*dvc repro -sf choose"):
        report.show()


def test_the_page_holds_a_seeded_sample_with_the_marks_of_the_metric(read):
    data = synthetic_run.page_data(report.PAGE)
    assert len(data["documents"]) == 5
    assert (data["focus"], data["kept"], data["alpha"]) == ("vote", "base", 0)
    rows = {row["id"]: row for row in read_rows(paths.evaluation("base"), None, "")}
    for document in data["documents"]:
        found = json.loads(rows[document["id"]]["detail"])["mentions"]["mentions"]
        marks = [part for part in document["summaries"]["base"]["parts"] if len(part) > 1]
        assert [(text, bool(there)) for text, there, _ in marks] == [
            (one["text"], one["supported"]) for one in found
        ]
        assert document["summaries"]["base"]["broken"]
