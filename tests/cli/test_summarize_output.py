"""Output of `brido summarize`: one process writes a file, and a file system may lack locks."""

import errno
import fcntl

import pytest

from brido.cli.summarize.output import FileOutput
from brido.utils.errors import BridoError


def test_one_process_at_a_time_writes_a_file(tmp_path) -> None:
    first = FileOutput(tmp_path / "s.jsonl", resume=True)
    first.write([{"id": 1}])
    # Not told to delete what the other one writes.
    for resume in (True, False):
        with pytest.raises(BridoError, match="another process writes"):
            FileOutput(tmp_path / "s.jsonl", resume)
    first.close()
    with pytest.raises(BridoError, match="delete it"):
        FileOutput(tmp_path / "s.jsonl", resume=False)


def test_a_file_system_without_locks_is_written(tmp_path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    output = FileOutput(tmp_path / "s.jsonl", resume=False)
    output.write([{"id": 1}])
    output.finish()
    assert (tmp_path / "s.jsonl").read_text() == '{"id": 1}\n'
