"""Figures: the numbers behind them, that they are written, and that they are repeatable."""

import numpy as np
import pytest
from scipy import stats

from brido.report import figures
from brido.report.metrics import Estimate, Scores
from brido.report.unsupported import VoteBin
from brido.utils.errors import BridoError

COLUMNS = [("rouge", "r1"), ("mentions", "unsupported"), ("extractiveness", "length")]


def scores(seed, shift=0.0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(30, 3)) + shift
    values[:, 2] = 20
    values[3, 1] = np.nan
    return Scores([f"d{index}" for index in range(30)], COLUMNS, values, {})


def test_correlation_is_spearman_within_systems():
    systems = [scores(0), scores(1, shift=50)]
    columns, matrix = figures.correlation(systems)
    # A constant column correlates with nothing.
    assert columns == COLUMNS[:2]
    expected = []
    for item in systems:
        both = ~np.isnan(item.values[:, 1])
        expected.append(stats.spearmanr(item.values[both, 0], item.values[both, 1]).statistic)
    assert matrix[0, 1] == matrix[1, 0] == pytest.approx(np.mean(expected))
    assert matrix[0, 0] == pytest.approx(1)


def draw_all(folder):
    bins = [
        VoteBin(0, 0.2, 3, 0.1, {"a": 0.0, "b": 0.2}),
        VoteBin(0.2, 0.4, 9, 0.3, {"a": 0.1, "b": 0.4}),
    ]
    estimates = {
        "rouge": {"r1": Estimate(60, 59, 61, 30)},
        "mentions": {"unsupported": Estimate(0.3, 0.2, 0.4, 30)},
    }
    systems = {"base": estimates, "tuned": estimates}
    lengths = {name: Estimate(17, 16, 18, 30) for name in systems}
    curves = {"update": [1.0, 2.0], "loss": [3.0, 2.0], "tau": [float("nan"), 0.5]}
    figures.votes_figure(folder, bins)
    figures.training_figure(folder, curves)
    figures.length_figure(folder, systems, lengths)
    figures.correlation_figure(folder, [scores(0), scores(1)])


def test_every_axis_of_every_figure_has_a_title(tmp_path, monkeypatch):
    from matplotlib import pyplot

    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    draw_all(tmp_path)
    monkeypatch.undo()
    axes = [axis for figure in drawn for axis in figure.axes if axis.axison]
    assert len(drawn) == 4
    # A colour bar is one axis, which stands upright.
    colour_bars = [axis for axis in axes if axis.get_label() == "<colorbar>"]
    assert len(colour_bars) == 1
    for axis in axes:
        assert axis.get_ylabel()
        assert axis.get_xlabel() or axis in colour_bars
    for figure in drawn:
        pyplot.close(figure)


def test_figures_exist_even_when_there_is_nothing_to_show(tmp_path):
    figures.votes_figure(tmp_path, [])
    figures.training_figure(tmp_path, {})
    figures.length_figure(tmp_path, {}, {})
    lone = Scores(["a"], COLUMNS, np.zeros((1, 3)), {})
    figures.correlation_figure(tmp_path, [lone])
    assert len(list(tmp_path.glob("*.svg"))) == 4


def test_training_csv_is_read_with_holes_and_refused_when_broken(tmp_path):
    path = tmp_path / "training.csv"
    with pytest.raises(BridoError, match="dvc repro train"):
        figures.read_training(path)
    path.write_text("update,loss\n1,3\n2,\n")
    found = figures.read_training(path)
    assert found["update"] == [1, 2]
    assert found["loss"][0] == 3
    assert np.isnan(found["loss"][1])
    path.write_text("update,loss\n1,abc\n")
    with pytest.raises(BridoError, match="abc.*dvc repro -f train"):
        figures.read_training(path)
