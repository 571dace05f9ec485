"""Output of `brido summarize`: one process writes a file, and a file system may lack locks."""

import errno
import fcntl
import json

import pytest

from brido.cli.summarize.output import Output
from brido.utils.errors import BridoError

LINE = {"id": "1"}


def test_one_process_at_a_time_writes_a_file(tmp_path):
    first = Output(tmp_path / "s.jsonl", resume=True, force=False)
    first.write([LINE])
    # Not told to delete what the other one writes.
    for resume in (True, False):
        with pytest.raises(BridoError, match="another process writes"):
            Output(tmp_path / "s.jsonl", resume, force=False)
    first.close()
    with pytest.raises(BridoError, match="delete it"):
        Output(tmp_path / "s.jsonl", resume=False, force=False)


def test_a_file_system_without_locks_is_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    output = Output(tmp_path / "s.jsonl", resume=False, force=False)
    output.write([LINE])
    output.finish()
    assert json.loads((tmp_path / "s.jsonl").read_text()) == LINE
