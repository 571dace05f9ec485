"""Progress where stderr is no terminal, and the exit code of errors."""

import errno
import os
import sys

import pytest

from brido.utils.errors import run_command
from brido.utils.progress import Progress, say


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
