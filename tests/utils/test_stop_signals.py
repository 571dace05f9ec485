"""SIGTERM and Ctrl-C end every command with one sentence, while it imports and while it works."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from brido.utils.errors import run_command
from brido.utils.signals import stop_request

ROOT = Path(__file__).parents[2]
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def command(*arguments, site=None):
    """A command of ours as a user starts it; `site` is run at Python's start."""
    environment = {"PYTHONPATH": f"{site}:{ROOT}" if site else str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_command_that_still_imports_ends_with_a_sentence(tmp_path):
    # It sends itself the signal when it comes to import a module, and goes on.
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins, os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "original = builtins.__import__\ndef importing(name, *more, **keys):\n"
        "    name == 'pyarrow' and os.kill(os.getpid(), signal.SIGINT)\n"
        "    return original(name, *more, **keys)\nbuiltins.__import__ = importing\n"
    )
    process = command("stages.train", site=tmp_path)
    said = process.communicate(timeout=600)[1]
    assert (process.returncode, said) == (130, "stopped before anything was begun: run again\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_at_work_ends_with_a_sentence(tmp_path, number):
    (tmp_path / "sitecustomize.py").write_text(
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    )
    # More than a pipe holds: it waits until somebody reads on.
    lines = tmp_path / "many.jsonl"
    lines.write_text('{"candidates": ["a", "b"]}\n' * 5000)
    process = command("brido", "score", str(lines), site=tmp_path)
    assert "ranks" in process.stdout.readline()
    process.send_signal(number)
    # Its output stays open, as a terminal's does: a signal that C code swallows comes once more.
    assert process.wait(timeout=600) == 128 + number
    said = process.communicate()[1]
    assert said == "interrupted; finished work is kept, run again to go on\n"


def test_a_signal_that_is_ignored_stops_no_training():
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stop_request() as received:
            os.kill(os.getpid(), signal.SIGINT)
        assert received == []
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_library_that_answers_a_stop_with_its_own_error_hides_nothing(
    capsys, number, tmp_path, request
):
    """As torch.save does where the stop comes while it writes."""

    class Stopping:
        def __reduce__(self):
            os.kill(os.getpid(), number)
            time.sleep(10)

    # What a shell starts in the background ignores Ctrl-C.
    former = signal.signal(number, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(number, former))
    with pytest.raises(SystemExit) as end:
        run_command(lambda: torch.save([torch.ones(99), Stopping()], tmp_path / "state.pt"))
    assert end.value.code == 128 + number
    assert capsys.readouterr().err == "interrupted; finished work is kept, run again to go on\n"
