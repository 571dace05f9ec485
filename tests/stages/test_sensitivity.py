"""Stage sensitivity: a check that costs more is asked about fewer references."""

from types import SimpleNamespace

import pytest

from brido.evaluation.registry import find_metric
from stages import sensitivity


@pytest.mark.parametrize(("name", "most"), [("mentions", 200), ("minicheck", 50), ("geval", 20)])
def test_as_many_references_as_a_check_may_cost(monkeypatch, name, most):
    asked = []

    def measure(check, documents, summaries, **how):
        asked.append((len(documents), len(summaries)))
        return SimpleNamespace(sentence=lambda *_, **__: "", plain=dict)

    monkeypatch.setattr(sensitivity, "metric_sensitivity", measure)
    params = SimpleNamespace(evaluation=SimpleNamespace(**{name: None}), runtime=None)
    rows = [{"document": f"Ann met {n}.", "summary": f"{n}."} for n in range(300)]
    assert sensitivity._measured(params, find_metric(name), rows) == {}
    # Of fewer than 20 no share says anything.
    assert sensitivity._measured(params, find_metric(name), rows[:19]) is None
    assert asked == [(most, most)]
