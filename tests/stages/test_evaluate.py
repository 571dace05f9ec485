"""Stage evaluate: what is measured on which split, and a dry run; its tables are in test_run.py."""

from pathlib import Path

import finished_run
import pytest
from bad_endpoint import BadEndpoint
from written_marks import clean_answer

from brido.endpoint import DryRun
from brido.evaluation.geval import METRIC
from brido.settings.load import check_params, load_params
from brido.tables import read_metadata, read_rows
from brido.utils.errors import BridoError
from stages import evaluate as stage

PARAMS = check_params({"checkpoints": {"base": {"source": "embedded"}}})


def test_a_judge_is_asked_once(finished):
    sections = {"evaluation": {"metrics": ["mentions", "geval"], "geval": {"model": "m"}}}
    sections["choice"] = {"rouge_loss": None, "by": "mentions.good"}
    with BadEndpoint(answer=clean_answer) as server:
        endpoint = {"base_url": server.url}
        dry = {"endpoint": endpoint | {"dry_run": True}}
        finished_run.write_params(finished, runtime=dry, **sections)
        with pytest.raises(DryRun, match="calls to make:  320 "):
            stage.evaluate(load_params(), "base")
        assert server.requests == []
        finished_run.write_params(finished, runtime={"endpoint": endpoint}, **sections)
        path = stage.evaluate(load_params(), "base")
        first, asked = path.read_bytes(), len(server.requests)
        assert stage.evaluate(load_params(), "base").read_bytes() == first
        assert len(server.requests) == asked > 0
    (row, *_) = read_rows(path, None, "")
    assert {f"geval.{name}" for name in METRIC.names} < set(row)
    signature = read_metadata(path, "")["signature"]["geval"]
    assert signature["served_models"] == {"m-as-served": asked}
    assert Path(".brido/judge/answers.sqlite").is_file()


def test_parts_that_were_measured_in_different_ways_are_no_table():
    parts = [{"signature": {"version": number}, "counts": {"n": 2}} for number in (1, 1, 2)]
    assert stage.join_signatures(parts[:2]) == {"version": 1, "n": 4}
    with pytest.raises(BridoError, match="install the same packages"):
        stage.join_signatures(parts)


@pytest.mark.parametrize(
    ("choice", "measured"),
    [
        ({}, ["rouge", "mentions", "world_judge"]),
        ({"by": "extractiveness.coverage"},
         ["rouge", "mentions", "extractiveness", "world_judge"]),
    ],
)  # fmt: skip
def test_what_chooses_is_measured_on_validation_documents_too(choice, measured):
    params = PARAMS.model_copy(update={"choice": PARAMS.choice.model_copy(update=choice)})
    for split, names in (("test", params.evaluation.metrics), ("validation", measured)):
        assert [metric.name for metric in stage.metrics_of(params, "vote", split)] == names
