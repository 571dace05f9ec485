"""Killed at ten moments, `brido summarize --resume` ends in the bytes of one that was not."""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
import small_project

from brido.cli.main import main
from brido.models.settings import ReadingSettings
from brido.summarizer.usage import Usage, write_usage
from brido.utils.errors import run_command

DOCUMENTS, KILLS = 240, 10


def start(arguments: list[str]) -> int:
    """Start the command in a process of its own; returns its number."""
    process = os.fork()
    if process:
        return process
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    try:
        run_command(lambda: main(["summarize", *arguments]))
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(0)


def kill_when(process: int, path: Path, size: int) -> bool:
    """Kill the process when a file has more bytes than `size`; False if it ended before."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if os.waitpid(process, os.WNOHANG)[0]:
            return False
        if path.exists() and path.stat().st_size > size:
            break
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return True


def end(process: int) -> int:
    """Wait until the process ends; its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("ways", [[], pytest.param(["--candidates", "8"], marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_change_nothing(tmp_path, monkeypatch, ways):
    monkeypatch.chdir(tmp_path)
    small_project.write_checkpoint(tmp_path / "model")
    reading = ReadingSettings(max_source_tokens=20)
    write_usage(tmp_path / "model", Usage(reading=reading))
    documents = "\n".join(small_project.document(number) for number in range(DOCUMENTS))
    (tmp_path / "a.txt").write_text(documents)
    command = ["a.txt", "--model", "model", "--device", "cpu", "--shard-documents", "4", *ways]
    assert end(start([*command, "-o", "whole.jsonl"])) == 0
    whole = (tmp_path / "whole.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    partial = tmp_path / "s.jsonl.partial"
    # The first moment is before any line, the last is behind nearly all of them.
    moments = [0, *sorted(random.Random(52).sample(range(1, DOCUMENTS - 8), KILLS - 1))]
    for moment in moments:
        limit = len(b"".join(lines[:moment])) if moment else -1
        assert kill_when(start([*command, "-o", "s.jsonl", "--resume"]), partial, limit)
        if partial.exists():
            assert whole.startswith(partial.read_bytes())
    assert end(start([*command, "-o", "s.jsonl", "--resume"])) == 0
    assert (tmp_path / "s.jsonl").read_bytes() == whole
    assert [json.loads(line)["id"] for line in lines] == [str(n) for n in range(1, DOCUMENTS + 1)]
    assert not list(tmp_path.glob("*.partial*"))
