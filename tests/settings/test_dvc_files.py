"""What a kill leaves of dvc.lock, and what `brido config` makes of it before DVC starts."""

import pytest
from dvc_project import ROOT, commit, run
from filelock import FileLock

from brido.cli.config import command
from brido.settings import dvc_files
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

COMMITTED = (ROOT / "dvc.lock").read_text()
# One stage fewer: another state of the same project.
NEWER = COMMITTED[: COMMITTED.rindex("\n  evaluate@") + 1]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A committed folder with params.yaml and dvc.lock."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (tmp_path / "dvc.lock").write_text(COMMITTED)
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    run(tmp_path, "git", "init", "-q")
    commit(tmp_path, "start")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(capsys):
    invoke(command, [])
    return capsys.readouterr().out


DAMAGED = {
    "empty": "",
    "a few bytes": "schema: '2",
    "no stages": "schema: '2.0'\n",
    "half a line": NEWER[:8192],
    "a whole line without its end": NEWER.rstrip("\n"),
    "other text": "}{\n",
    "zeros": "\0" * 4096,
}


@pytest.mark.parametrize("left", DAMAGED.values(), ids=DAMAGED)
def test_the_last_whole_lock_is_put_back_and_else_the_committed_one(project, capsys, left):
    lock = project / "dvc.lock"
    lock.write_text(left)
    said = config(capsys)
    assert "dvc.lock was damaged" in said
    assert "committed" in said
    assert lock.read_text() == COMMITTED
    lock.write_text(NEWER)
    assert "damaged" not in config(capsys)
    lock.write_text(left)
    assert "last whole one" in config(capsys)
    assert lock.read_text() == NEWER
    assert "damaged" not in config(capsys)


@pytest.mark.parametrize("git", [True, False])
def test_without_an_earlier_one_it_is_removed(project, capsys, git):
    run(project, "git", "rm", "-q", "--cached", "dvc.lock")
    run(project, "git", "commit", "-qm", "no lock")
    if not git:
        (project / ".git").rename(project / "elsewhere")
    (project / "dvc.lock").write_text("")
    assert "removed" in config(capsys)
    assert not (project / "dvc.lock").exists()
    assert "damaged" not in config(capsys)


def test_a_conflict_is_the_users_to_settle(project):
    text = f"<<<<<<< HEAD\n{COMMITTED}=======\n{NEWER}>>>>>>> other\n"
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


def test_what_dvc_reads_is_whole_and_every_shorter_text_is_not(project):
    """DVC's own reader is the oracle: what it refuses is never called whole."""
    from dvc.dvcfile import Lockfile  # noqa: F401 - imports its schema
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from dvc.utils.serialize import loads_yaml

    assert COMPILED_LOCKFILE_SCHEMA(loads_yaml(COMMITTED))
    for size in range(0, 6000, 7):
        text = COMMITTED[:size]
        if not dvc_files._is_whole(text):
            continue
        assert COMPILED_LOCKFILE_SCHEMA(loads_yaml(text)), size
