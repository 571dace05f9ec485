"""What a kill leaves of dvc.lock, and what `brido config` makes of it before DVC starts."""

import pytest
from dvc_project import ROOT
from filelock import FileLock

from brido.cli.config import command
from brido.settings import dvc_files
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

WHOLE = (ROOT / "dvc.lock").read_text()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with params.yaml and dvc.lock."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (tmp_path / "dvc.lock").write_text(WHOLE)
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(capsys):
    invoke(command, [])
    return capsys.readouterr().out


DAMAGED = {
    "empty": "",
    "a few bytes": "schema: '2",
    "half a line": WHOLE[:8192],
    "a whole line without its end": WHOLE.rstrip("\n"),
    "other text": "}{\n",
    "zeros": "\0" * 4096,
}


@pytest.mark.parametrize("left", DAMAGED.values(), ids=DAMAGED)
def test_the_last_whole_lock_is_put_back_and_else_none(project, capsys, left):
    lock = project / "dvc.lock"
    lock.write_text(left)
    assert "dvc.lock was damaged" in config(capsys)
    assert not lock.exists()
    lock.write_text(WHOLE)
    assert "damaged" not in config(capsys)
    lock.write_text(left)
    assert "last whole one" in config(capsys)
    assert lock.read_text() == WHOLE
    assert "damaged" not in config(capsys)


def test_a_conflict_is_the_users_to_settle(project):
    text = f"<<<<<<< HEAD\n{WHOLE}=======\n{WHOLE}>>>>>>> other\n"
    (project / "dvc.lock").write_text(text)
    with pytest.raises(BridoError, match="git checkout --ours dvc.lock"):
        invoke(command, [])
    assert (project / "dvc.lock").read_text() == text


def test_a_lock_that_dvc_is_writing_is_waited_for(project, monkeypatch):
    (project / "dvc.lock").write_text("")
    monkeypatch.setattr(dvc_files, "_PATIENCE", 0.1)
    with FileLock(".dvc/tmp/lock"), pytest.raises(BridoError, match="another DVC command"):
        invoke(command, [])
    assert (project / "dvc.lock").read_text() == ""


def test_the_list_of_users_is_mended_too(project, capsys):
    users = project / ".dvc/tmp/rwlock"
    users.write_text('{"read": {}, "wr')
    assert "rwlock was damaged" in config(capsys)
    assert not users.exists()
    users.write_text('{"read": {}, "write": {}}')
    assert "damaged" not in config(capsys)
    assert users.exists()


def test_another_file_is_looked_at_alone(project, capsys):
    (project / "dvc.lock").write_text("")
    (project / "other.yaml").write_text((project / "params.yaml").read_text())
    invoke(command, ["other.yaml"])
    assert (project / "dvc.lock").read_text() == ""
