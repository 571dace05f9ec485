"""The figure: what its axes say, and that it is written whatever there is to show."""

from brido.report.figures import COLOURS, MARKERS, length_figure
from brido.report.metrics import Estimate


def test_every_axis_has_a_title(tmp_path, monkeypatch):
    from matplotlib import pyplot

    estimates = {
        "rouge": {"r1": Estimate(60, 59, 61, 30)},
        "mentions": {"unsupported": Estimate(0.3, 0.2, 0.4, 30)},
    }
    systems = {"base": estimates, "tuned": estimates}
    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    length_figure(tmp_path, systems, {name: Estimate(17, 16, 18, 30) for name in systems})
    monkeypatch.undo()
    (figure,) = drawn
    axes = [axis for axis in figure.axes if axis.axison]
    assert [axis.get_xlabel() for axis in axes] == ["mean length (words)"] * 2
    assert all(axis.get_ylabel() for axis in axes)
    pyplot.close(figure)


def test_it_exists_even_when_there_is_nothing_to_show(tmp_path):
    length_figure(tmp_path, {}, {})
    assert {path.name for path in tmp_path.iterdir()} == {"length.svg", "length.png"}


def test_no_two_systems_look_alike():
    looks = {(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]) for place in range(50)}
    assert len(looks) == 50
