"""Killed at ten moments, `brido summarize --resume` ends in the bytes of one that was not."""

import json
import random

import pytest
import small_project
from forked import finish, kill_when, start

from brido.models.settings import ReadingSettings
from brido.summarizer.usage import Usage, write_usage

DOCUMENTS, KILLS = 240, 10


@pytest.mark.parametrize("ways", [[], pytest.param(["--candidates", "8"], marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_change_nothing(tmp_path, ways):
    small_project.write_checkpoint(tmp_path / "model")
    reading = ReadingSettings(max_source_tokens=20)
    write_usage(tmp_path / "model", Usage(reading=reading))
    documents = "\n".join(small_project.document(number) for number in range(DOCUMENTS))
    (tmp_path / "a.txt").write_text(documents)
    command = ["brido", "summarize", "a.txt", "--model", "model", "--device", "cpu"]
    command += ["--shard-documents", "4", *ways]
    finish(tmp_path, *command, "-o", "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    partial = tmp_path / "s.jsonl.partial"
    # The first moment is before any line, the last is behind nearly all of them.
    moments = [0, *sorted(random.Random(52).sample(range(1, DOCUMENTS - 8), KILLS - 1))]
    for moment in moments:
        limit = len(b"".join(lines[:moment])) if moment else -1
        process = start(tmp_path, *command, "-o", "s.jsonl", "--resume")
        longer = lambda limit=limit: partial.exists() and partial.stat().st_size > limit  # noqa: E731
        assert kill_when(process, longer)
        if partial.exists():
            assert whole.startswith(partial.read_bytes())
    finish(tmp_path, *command, "-o", "s.jsonl", "--resume")
    assert (tmp_path / "s.jsonl").read_bytes() == whole
    assert [json.loads(line)["id"] for line in lines] == [str(n) for n in range(1, DOCUMENTS + 1)]
    assert not list(tmp_path.glob("*.partial*"))
