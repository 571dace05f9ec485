"""Progress where stderr is no terminal, and the exit code of errors."""

import errno
import os
import subprocess
import sys

import pytest

from brido.utils.errors import run_command
from brido.utils.progress import Progress, quiet, say


def test_lines_with_rate_and_time_left(capfd):
    with Progress("decode test", total=4, interval=0.0) as progress:
        progress.skip(1)
        progress.advance(1, note="batch halved")
        progress.advance(2)
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1].startswith("decode test: 4/4 documents, ")
    assert "s left" in lines[1]
    assert "1 found done" in lines[-1]
    assert "batch halved" in lines[-1]


def test_tokens_are_told_before_a_document_is_finished(capfd):
    with Progress("generate base", total=88, interval=0.0) as progress:
        progress.advance(0, tokens=1200)
        progress.advance(4, tokens=34)
    first, second, _ = capfd.readouterr().err.splitlines()
    assert first == "generate base: 0/88 documents, 1,200 tokens written"
    assert "1,234 tokens written" in second


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


def test_quiet_progress_counts_and_shows_nothing(capfd):
    with quiet("decode test", 4, "documents") as progress:
        progress.skip(1)
        progress.interval = 0.0
        progress.advance(3)
    assert (progress.skipped, progress.done) == (1, 3)
    assert capfd.readouterr() == ("", "")


def test_a_program_that_imports_brido_hears_its_warnings_and_may_ask_for_the_rest():
    speak = "from brido.utils.progress import say; say('begun'); say('train: warning: slow')"
    asked = "import logging; logging.basicConfig(level='INFO', format='%(name)s %(message)s'); "
    for code, heard in (
        (speak, "train: warning: slow\n"),
        (asked + speak, "brido begun\nbrido train: warning: slow\n"),
    ):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("", heard)


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
