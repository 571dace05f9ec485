"""`brido init --train FILE FOLDER`: a worktree of its own, which leaves the clone as it is."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from dvc_project import copy_project, environment, run
from own_articles import abstracts, write_jsonl
from tiny_chat import chat_tokenizer, tiny_llama

from brido.cli.init import command, write
from brido.models.checkpoint import save
from brido.settings.load import load_params
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

COLUMNS = ("--document-column", "abstract", "--summary-column", "tldr")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of a user whose Git signs commits, with a key that is not there, and has hooks."""
    folder = copy_project(tmp_path_factory.mktemp("clone") / "clone")
    save(tiny_llama(max_position_embeddings=512), chat_tokenizer(), folder.parent / "chat")
    for key, value in (("commit.gpgSign", "true"), ("user.signingKey", "none")):
        run(folder, "git", "config", key, value)
    for name in ("pre-commit", "commit-msg", "post-checkout"):
        hook = folder / ".git/hooks" / name
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    return folder


@pytest.fixture
def home(tmp_path: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_jsonl(tmp_path / "a.jsonl", abstracts(70))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(write, "checkout", lambda: clone)
    return tmp_path


def own(*options: str) -> None:
    invoke(command, [*options, *COLUMNS, "--model", str(write.checkout().parent / "chat")])


def test_a_project_is_a_worktree_with_its_plan_committed(home, clone, monkeypatch, capsys) -> None:
    own("my/run", "--train", "a.jsonl")
    folder = home / "my/run"
    assert run(clone, "git", "status", "--short") == ""
    said = capsys.readouterr().out
    assert f"cd {folder} && dvc repro" in said
    assert f"{folder / 'params.yaml'} is written" in said
    assert "git checkout -f brido/run" in said
    monkeypatch.chdir(folder)
    # Paths hold in the new folder, and the code is real: DVC stashes and restores what Git tracks.
    assert load_params().data.files.train == [str(home / "a.jsonl")]
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert run(folder, "git", "status", "--short") == ""
    assert run(folder, "git", "branch", "--show-current") == "brido/run\n"
    # Nothing of the clone's own run is taken for this one's.
    assert not {"metrics", "dvc.lock"} & {path.name for path in folder.iterdir()}
    # Again: the old settings are kept, the new plan is committed alone.
    (folder / "dvc.lock").write_text("mine")
    run(folder, "git", "add", "dvc.lock")
    own("--train", str(home / "a.jsonl"), "--minutes", "5", "--id-column", "paper_id")
    for _ in range(2):  # the second time there is nothing to commit
        own(".", "--train", str(home / "a.jsonl"), "--id-column", "none")
    assert (folder / ".brido/params.previous-2.yaml").is_file()
    assert run(folder, "git", "status", "--short") == "A  dvc.lock\n"
    assert run(folder, "git", "log", "--format=%s").splitlines() == [
        *["The plan of brido init"] * 3, "A project begins", "start"
    ]  # fmt: skip
    # As DVC leaves it when an experiment is killed: a commit here would be on no branch.
    run(folder, "git", "-c", "core.hooksPath=/dev/null", "checkout", "--detach", "-q")
    for where in ((), (".",)):
        with pytest.raises(BridoError, match="git checkout -f brido/run"):
            own(*where, "--train", str(home / "a.jsonl"))


def test_a_folder_with_something_else_is_refused(home, clone) -> None:
    (home / "full").mkdir()
    (home / "full/thesis.tex").touch()
    for name in ("full", "a.jsonl", "a.jsonl/run", str(clone), str(clone / "docs")):
        with pytest.raises(BridoError, match=Path(name).name):
            own(name, "--train", "a.jsonl")
    assert [path.name for path in (home / "full").iterdir()] == ["thesis.tex"]
    # As a shell leaves a pattern without quotes.
    with pytest.raises(BridoError, match=r"a\.jsonl is neither.* in quotes"):
        own("a.jsonl", "--train", "a.jsonl")


# Seconds after which `dvc exp run` is killed: while DVC starts, stashes, runs, commits and returns.
MOMENTS = (0.5, 1.5, 2.5, 3.5, 5)
PLAIN = ("-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")


def tracked(folder: Path) -> set[str]:
    """What Git has in its index, beside what DVC keeps for itself."""
    names = run(folder, "git", "ls-files").split()
    return {name for name in names if not name.startswith(".dvc/tmp")}


def bring_back(folder: Path, corrupt: Path | None = None) -> None:
    """What the tutorial says: delete what Git calls locked or corrupt, and check out the branch.

    Git compares sizes and whole seconds: it overlooks what DVC has changed in the second in which
    it wrote the file, and a comment behind a value keeps the size.
    """
    common = folder / run(folder, "git", "rev-parse", "--git-common-dir").strip()
    for named in [*common.rglob("*.lock"), folder / ".dvc/tmp/rwlock", corrupt or folder / "none"]:
        named.unlink(missing_ok=True)
    (folder / "params.yaml").unlink()
    run(folder, "git", *PLAIN, "checkout", "-fq", "brido/killed")


@pytest.mark.slow
def test_experiments_work_in_a_project_after_they_were_killed(home) -> None:
    own("my/killed", "--train", "a.jsonl")
    folder = home / "my/killed"
    run(folder, "dvc", "repro", "download")
    run(folder, "git", *PLAIN, "commit", "-qm", "The run")
    before, plan = tracked(folder), (folder / "params.yaml").read_bytes()
    experiment = [sys.executable, "-m", "dvc", "exp", "run", "download", "-S"]
    for number, seconds in enumerate(MOMENTS):
        process = subprocess.Popen(
            [*experiment, f"data.max_documents={30 + number}"],
            cwd=folder, env=environment(), start_new_session=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(seconds)
        with suppress(ProcessLookupError):  # it may be done
            os.killpg(process.pid, (signal.SIGKILL, signal.SIGTERM)[number % 2])
        process.wait()
        corrupt = None
        if number == 0:  # a kill may come while Git writes
            corrupt = folder / run(folder, "git", "rev-parse", "--git-path", "index").strip()
            corrupt.with_name("index.lock").write_bytes(half := corrupt.read_bytes()[:100])
            corrupt.write_bytes(half)
        bring_back(folder, corrupt)
        assert (folder / "params.yaml").read_bytes() == plan
        assert tracked(folder) == before
        assert run(folder, "git", "status", "--short") == ""
        assert run(folder, "git", "branch", "--show-current") == "brido/killed\n"
    assert "Ran experiment" in run(folder, *experiment, "data.max_documents=20")
    bring_back(folder)
    run(folder, *experiment[:-1], "--queue", "-S", "data.max_documents=21,22")
    run(folder, "dvc", "queue", "start")
    for _ in range(100):
        told = run(folder, "dvc", "queue", "status")
        if told.count("Success") == 2:
            break
        time.sleep(1)
    assert told.count("Success") == 2, told
    assert tracked(folder) == before
    assert run(folder, "git", "status", "--short") == ""
