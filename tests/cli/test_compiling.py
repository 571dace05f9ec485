"""A first call that compiles says so, once."""

from numba import njit

from brido.cli.compiling import told_when_compiling


def test_compiling_is_said_once(capsys):
    first, second = njit(lambda number: number + 1), njit(lambda number: number + 2)
    with told_when_compiling():
        assert (first(1), second(1), first(2)) == (2, 3, 3)
    assert capsys.readouterr().err.count("compiling") == 1
    with told_when_compiling():
        first(3)
    assert capsys.readouterr().err == ""
