"""The declarations of metrics: complete, documented, light to read, kept by what they return."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.evaluation import Column, Evaluation, Inputs, Metric
from brido.evaluation.registry import all_metrics
from brido.evaluation.settings import EvaluationSettings
from brido.utils.errors import ArgumentError

ROOT = Path(__file__).parents[2]
INPUTS = Inputs(["a", "b"], ["x", "y"], ["x", "y"], [["x"], ["y"]])


def toy(rows, details=(None, None)):
    """A metric that answers `rows`, whatever it is asked."""
    answer = Evaluation(list(rows), list(details), {})
    columns = (Column("good"), Column("bad", better="lower"))
    return Metric("toy", "Toy", columns, lambda inputs, settings, progress: answer)


def test_a_metric_must_keep_what_it_declares():
    right = {"good": 1.0, "bad": None}
    assert toy([right, right]).measure(INPUTS).rows == [right, right]
    for short in (toy([right]), toy([right], [None])):
        with pytest.raises(ValueError, match="1 rows of 2 documents"):
            short.measure(INPUTS)
    for wrong in ({"good": 1.0}, {"bad": 1.0, "good": 1.0}, {**right, "more": 1.0}):
        with pytest.raises(ValueError, match="other columns"):
            toy([right, wrong]).measure(INPUTS)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        # A text in place of its list: every letter would be a reference.
        ({"references": ["x", "y"]}, r"references\[0\] must be a list of texts, not 'x'"),
        ({"documents": "xy"}, "documents must be a list of texts"),
        ({"summaries": ["x", None]}, r"summaries\[1\] is None, not a text"),
        ({"summaries": ["x"]}, "not \[2, 2, 1, 2\]"),
    ],
)
def test_inputs_that_cannot_be_meant_are_refused(changes, named):
    with pytest.raises(ArgumentError, match=named):
        toy([]).measure(replace(INPUTS, **changes))


def test_means_count_only_what_was_measured():
    rows = [{"good": 1.0, "bad": None}, {"good": 4.0, "bad": None}, {"good": None, "bad": None}]
    means = toy(rows).evaluate(INPUTS, None, None).means()
    assert means["good"] == 2.5
    assert math.isnan(means["bad"])
    assert Evaluation([], [], {}).means() == {}


def test_every_metric_has_a_section_and_every_section_a_metric():
    names = [metric.name for metric in all_metrics()]
    assert list(EvaluationSettings.model_fields) == ["metrics", *names]
    written = YAML(typ="safe").load((ROOT / "params.yaml").read_text())["evaluation"]
    assert list(written) == ["metrics", *written["metrics"]]
    assert set(written["metrics"]) <= set(names)


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_the_documentation_names_every_column(metric):
    sections = (ROOT / "docs/metrics.md").read_text().split("\n## ")
    names = (metric.name, metric.label.lower())
    (section,) = [text for text in sections if text.lower().startswith(names)]
    missing = [name for name in metric.names if not re.search(rf"\b{name}\b", section)]
    assert missing == []
