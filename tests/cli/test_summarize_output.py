"""Output of `brido summarize`: one process writes a file, and a file system may lack locks."""

import errno
import fcntl
import json

import pytest

from brido.cli.summarize.output import Output
from brido.summarizer.writer import Named
from brido.utils.errors import BridoError

LINE = {"id": "1", "ended": True, "cut": 0.0, "unsupported": [], "flaw": ""}


def test_one_process_at_a_time_writes_a_file(tmp_path) -> None:
    first = Output(tmp_path / "s.jsonl", resume=True)
    first.write([LINE])
    # Not told to delete what the other one writes.
    for resume in (True, False):
        with pytest.raises(BridoError, match="another process writes"):
            Output(tmp_path / "s.jsonl", resume)
    first.__exit__(None, None, None)
    with pytest.raises(BridoError, match="delete it"):
        Output(tmp_path / "s.jsonl", resume=False)


def test_a_file_system_without_locks_is_written(tmp_path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    output = Output(tmp_path / "s.jsonl", resume=False)
    output.write([LINE])
    output.finish()
    assert json.loads((tmp_path / "s.jsonl").read_text()) == LINE


@pytest.mark.parametrize("done", [0, 1])
def test_a_torn_line_is_cut_off_even_where_it_is_the_first_or_the_last(tmp_path, done) -> None:
    whole, partial = json.dumps(LINE) + "\n", tmp_path / "s.jsonl.partial"
    partial.write_text(done * whole + '{"id": "1", "end')
    output = Output(tmp_path / "s.jsonl", resume=True)
    for _ in output.missing([[Named("1", "A text.")]]):
        output.write([LINE])
    output.finish()
    assert json.loads((tmp_path / "s.jsonl").read_text()) == LINE
