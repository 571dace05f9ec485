"""Killed at several moments, `brido summarize --resume` ends in the bytes of one that was not."""

import small_project
from killed_summaries import end, kill_when, start

from brido.models.settings import ReadingSettings
from brido.summarizer.usage import Usage, write_usage


def test_kills_lose_nothing_and_change_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_project.write_checkpoint(tmp_path / "model")
    write_usage(tmp_path / "model", Usage(reading=ReadingSettings(max_source_tokens=20)))
    documents = "\n".join(small_project.document(number) for number in range(60))
    (tmp_path / "a.txt").write_text(documents)
    command = ["a.txt", "--model", "model", "--device", "cpu", "--shard-documents", "2"]
    assert end(start([*command, "-o", "whole.jsonl"])) == 0
    whole = (tmp_path / "whole.jsonl").read_bytes()
    partial = tmp_path / "s.jsonl.partial"
    kills = 0
    for moment in range(4):
        size = partial.stat().st_size if partial.exists() else -1
        limit = -1 if moment == 0 else max(size, 0) + len(whole) // 8
        process = start([*command, "-o", "s.jsonl", "--resume"])
        kills += kill_when(process, partial, limit)
        if partial.exists():
            assert whole.startswith(partial.read_bytes())
    assert kills == 4
    assert end(start([*command, "-o", "s.jsonl", "--resume"])) == 0
    assert (tmp_path / "s.jsonl").read_bytes() == whole
    assert not list(tmp_path.glob("*.partial*"))
