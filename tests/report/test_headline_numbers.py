"""What DVC compares: names stand alone where they mean one thing."""

import json

import numpy as np
import pytest

from brido.report.metrics import Estimate, Scores
from brido.report.numbers import TUNED, Numbers, write_numbers
from brido.report.settings import ReportSettings


@pytest.mark.parametrize("metric", ["world_judge", "mentions"])
def test_good_stands_alone_whichever_metric_measures_it(tmp_path, metric):
    """The world's grammar or rules on other text: never both, and one name in every comparison."""
    estimates = {
        "mentions": {"unsupported": Estimate(0.25, 0.2, 0.3, 9)},
        "world_qa": {"f1": Estimate(86.0, 85.0, 87.0, 9)},
    }
    estimates.setdefault(metric, {})["good"] = Estimate(0.5, 0.4, 0.6, 9)
    scores = {"tuned": Scores(["a"], [], np.zeros((1, 0)), {})}
    numbers = Numbers(scores, {"tuned": estimates}, {}, {}, [], "base")
    write_numbers(tmp_path, numbers, ReportSettings())
    told = json.loads((tmp_path / TUNED).read_text())
    assert told == {"base": "base", "unsupported": 0.25, "world_qa": {"f1": 86.0}, "good": 0.5}
