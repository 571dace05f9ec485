"""Progress where stderr is no terminal, and the exit code of errors."""

import errno
import os
import sys

import pytest

from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.utils.store import ResultStore


def test_a_terminal_has_a_bar_and_messages_stand_above_it(capfd, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("generate base", total=8) as progress:
        progress.skip(2)
        progress.advance(6, note="loss 0.1")
        say("a line")
    said = capfd.readouterr().err
    assert "a line\n" in said
    assert "8/8" in said
    assert "2 found done, loss 0.1" in said


def test_elsewhere_it_is_lines_and_the_last_comes_once(capsys):
    with Progress("read", total=2, interval=0) as progress:
        progress.advance()
        progress.advance()
    lines = capsys.readouterr().err.splitlines()
    assert [line[:9] for line in lines] == ["read: 1/2", "read: 2/2"]
    assert "left" in lines[0]
    assert "left" not in lines[1]


def test_a_store_computes_what_is_new_alone_and_shows_it(tmp_path):
    store, shown = ResultStore(tmp_path / "a.sqlite"), []

    def compute(new):
        yield [(index, 2 * item[0]) for index, item in enumerate(new)]

    def display(count):
        shown.append(Progress("double", count, shown=False))
        return shown[-1]

    assert store.recall("double", "m", [(1,), (2,), (1,)], compute, display) == {(1,): 2, (2,): 4}
    assert store.recall("double", "m", [(2,), (3,)], compute, display) == {(2,): 4, (3,): 6}
    assert [(one.total, one.done) for one in shown] == [(2, 2), (1, 1)]
    store.recall("double", "m", [(1,)], compute, display)
    assert len(shown) == 2


def raised(error):
    raise error


def test_a_librarys_file_on_a_full_disk_is_a_sentence_too(capsys):
    def main(number=errno.ENOSPC):
        raise OSError(number, os.strerror(number), "/cache/kernel")

    with pytest.raises(SystemExit) as caught:
        run_command(main)
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: the disk is full (No space left on device): free")
    for full in (MemoryError(), ValueError()):
        full.__cause__ = MemoryError() if isinstance(full, ValueError) else None
        with pytest.raises(SystemExit, match="2"):
            run_command(lambda full=full: raised(full))
        assert capsys.readouterr().err.startswith("error: the memory does not suffice")
    with pytest.raises(PermissionError):
        run_command(lambda: main(errno.EACCES))
