"""Figures: what their axes say, that they are written, and the curves that they read."""

import numpy as np
import pytest

from brido.report import figures
from brido.report.metrics import Estimate
from brido.utils.errors import BridoError


def draw_all(folder):
    estimates = {
        "rouge": {"r1": Estimate(60, 59, 61, 30)},
        "mentions": {"unsupported": Estimate(0.3, 0.2, 0.4, 30)},
    }
    systems = {"base": estimates, "tuned": estimates}
    lengths = {name: Estimate(17, 16, 18, 30) for name in systems}
    curves = {"update": [1.0, 2.0], "loss": [3.0, 2.0], "tau": [float("nan"), 0.5]}
    figures.training_figure(folder, curves)
    figures.length_figure(folder, systems, lengths)


def test_every_axis_of_every_figure_has_a_title(tmp_path, monkeypatch):
    from matplotlib import pyplot

    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    draw_all(tmp_path)
    monkeypatch.undo()
    axes = [axis for figure in drawn for axis in figure.axes if axis.axison]
    assert len(drawn) == 2
    for axis in axes:
        assert axis.get_ylabel()
        assert axis.get_xlabel()
    for figure in drawn:
        pyplot.close(figure)


def test_figures_exist_even_when_there_is_nothing_to_show(tmp_path):
    figures.training_figure(tmp_path, {})
    figures.length_figure(tmp_path, {}, {})
    assert len(list(tmp_path.glob("*.svg"))) == 2


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
