"""Every command's output: never onto an input, devices and links stay, names of any length."""

import gzip
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from brido.cli.main import group
from brido.utils import atomic
from brido.utils.atomic import atomic_file, atomic_folder, write_text
from brido.utils.errors import BridoError
from brido.utils.outputs import output_bytes, output_text, standard_input

RECORD = {"id": "a", "document": "A cat sat on a mat in Ashwick.",
          "candidates": ["The cat sat.", "A cat sat.", "Dogs bark."]}  # fmt: skip
LINES = "".join(json.dumps(RECORD | {"id": str(n)}) + "\n" for n in range(3))
SCORED = json.dumps(RECORD | {"scores": [0.3, 0.2, 0.1], "order": [0, 1, 2]}) + "\n"
COMMANDS = {
    "score": (["score", "in.jsonl"], LINES),
    "vote-check": (["vote-check", "in.jsonl"], LINES),
    "export": (["export", "preferences", "--scores", "in.jsonl"], SCORED),
    "geval": (["geval", "in.jsonl"], LINES),
    "qafacteval": (["qafacteval", "in.jsonl"], LINES),
}

ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def brido(folder, *arguments, **options):
    """Run the command in a folder."""
    environment = ENVIRONMENT | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "brido", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


def shell(folder, arguments):
    """Run the command as a shell does that redirects its input or output."""
    return subprocess.run(
        f"{sys.executable} -m brido {arguments}",
        shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def refused(*arguments):
    """What the command says, run in this process and folder, when it refuses."""
    done = CliRunner().invoke(group, arguments)
    assert isinstance(done.exception, BridoError), done.output
    return str(done.exception)


def other_name(kind, source: Path) -> Path:
    """Another name of a file."""
    other = source.with_name("other.jsonl")
    if kind == "symbolic":
        other.symlink_to(source.name)
    elif kind == "hard":
        other.hardlink_to(source)
    else:
        return source.parent / "." / ".." / source.parent.name / source.name
    return other


@pytest.mark.parametrize("kind", ["same", "symbolic", "hard"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_onto_its_input(command, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, content = COMMANDS[command]
    source = tmp_path / "in.jsonl"
    source.write_text(content)
    said = refused(*arguments, "-o", str(other_name(kind, source)))
    assert said.startswith("--output")
    assert "\n" not in said
    assert source.read_text() == content


def test_stdin_and_stdout_that_are_one_file_are_refused(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text(LINES)
    with source.open() as lines:
        done = brido(tmp_path, "vote-check", "-", "-o", "in.jsonl", stdin=lines)
    assert done.returncode == 2
    assert "stdin" in done.stderr
    done = shell(tmp_path, "score in.jsonl >> in.jsonl")
    assert done.returncode == 2
    assert "stdout" in done.stderr
    assert source.read_text() == LINES


def test_devices_stay_what_they_are(tmp_path):
    with output_text(Path("/dev/null")) as text:
        text.write("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    link = tmp_path / "null.jsonl"
    link.symlink_to("/dev/null")
    with output_bytes(link) as stream:
        stream.write(b"gone")
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)


def test_a_full_device_is_a_sentence():
    with (
        pytest.raises(BridoError, match="disk is full.*/dev/full"),
        output_text(Path("/dev/full")) as text,
    ):
        text.write("long" * 100_000)


def test_a_pipe_gets_what_is_written_and_stays(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    with output_text(pipe) as text:
        text.write("a line\n")
    reader.join()
    assert heard == ["a line\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_an_open_file_is_written_to_where_it_stands(name, tmp_path):
    (tmp_path / "in.jsonl").write_text(LINES)
    (tmp_path / "link").symlink_to("/dev/stdout")
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as output:
        done = subprocess.run(
            [sys.executable, "-m", "brido", "score", "in.jsonl", "-o", name],
            cwd=tmp_path, env=ENVIRONMENT, stdout=output, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, *lines = log.read_text().splitlines()
    assert before == "before"
    assert [json.loads(line)["id"] for line in lines] == ["0", "1", "2"]


def test_a_link_stays_and_what_it_names_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("there/old.jsonl", "there/new.jsonl"):
        link = tmp_path / Path(name).name
        link.symlink_to(name)
        (tmp_path / "there/old.jsonl").write_text("old")
        with output_text(link) as text:
            text.write("new")
        assert link.is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert sorted(os.listdir(tmp_path / "there")) == ["new.jsonl", "old.jsonl"]


@pytest.mark.parametrize("make", [atomic_file, atomic_folder])
def test_a_users_own_temporary_names_are_left_alone(make, tmp_path):
    mine = tmp_path / ".result.tmp"
    mine.write_text("mine")
    with make(tmp_path / "result") as temporary:
        assert temporary != mine
    assert mine.read_text() == "mine"


def test_two_writers_of_a_path_do_not_meet(tmp_path):
    path = tmp_path / "result"
    with atomic_file(path) as first:
        first.write_text("first")
        with atomic_file(path) as second:
            assert first != second
            assert first.exists()
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["result"]


@pytest.mark.parametrize("name", ["n" * 249 + ".jsonl", "ä" * 120 + ".jsonl"])
def test_the_longest_names_can_be_written(name, tmp_path):
    path = tmp_path / name[:255]
    with output_text(path) as text:
        text.write("whole")
    assert path.read_text() == "whole"


def test_outputs_that_cannot_be_are_sentences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(LINES)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for output in ("folder", "in.jsonl/x", "in.jsonl/x/y.jsonl", "n" * 300, "loop"):
        for command in ("score", "vote-check"):
            said = refused(command, "in.jsonl", "-o", output)
            assert output in said
            assert "\n" not in said
    assert sorted(os.listdir(tmp_path)) == ["folder", "in.jsonl", "loop"]
    with pytest.raises(BridoError, match="is a file"), atomic_folder(tmp_path / "in.jsonl"):
        pass
    assert (tmp_path / "in.jsonl").read_text() == LINES


def test_packed_outputs_and_tables_go_through_links(tmp_path):
    (tmp_path / "packed.jsonl.gz").symlink_to("packed")
    with output_text(tmp_path / "packed.jsonl.gz") as text:
        text.write("whole")
    assert gzip.decompress((tmp_path / "packed").read_bytes()) == b"whole"
    (tmp_path / "in.jsonl").write_text(SCORED)
    (tmp_path / "pairs.parquet").symlink_to("table")
    done = brido(tmp_path, "export", "preferences", "--scores", "in.jsonl", "-o", "pairs.parquet")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pairs.parquet").is_symlink()
    assert pq.read_table(tmp_path / "table").num_rows == 1


def test_closed_streams_are_sentences(tmp_path):
    (tmp_path / "in.jsonl").write_text(LINES)
    for redirection, word in (("<&-", "stdin"), (">&-", "stdout")):
        name = "-" if word == "stdin" else "in.jsonl"
        done = shell(tmp_path, f"score {name} {redirection}")
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {word} is closed")


def test_data_are_utf8_on_a_terminal_that_is_not(tmp_path):
    texts = {"candidates": ["Der Löwe schläft — 眠る。", "Ein Löwe."]}
    (tmp_path / "in.jsonl").write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    done = brido(tmp_path, "score", "in.jsonl", env={"PYTHONIOENCODING": "ascii"}, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["candidates"] == texts["candidates"]


@pytest.mark.parametrize("columns", ["0", "1", "-5", "many"])
def test_no_width_of_a_terminal_is_a_traceback(columns):
    done = brido(ROOT, "options", "pairwise", env={"COLUMNS": columns})
    assert done.returncode == 0
    assert "pairwise.combination" in done.stdout


def test_a_terminal_without_unicode_is_no_traceback():
    done = brido(ROOT, "options", "pairwise", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0


def test_stdin_is_checked_where_it_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BridoError, match="stdin"):
        standard_input()


def synced(monkeypatch) -> list[str]:
    """The paths that are synchronised from now on."""
    paths: list[str] = []
    real = os.fsync

    def noted(descriptor):
        paths.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(atomic.os, "fsync", noted)
    return paths


def test_files_are_on_the_disk_before_they_have_their_name(tmp_path, monkeypatch):
    paths = synced(monkeypatch)
    replaced: list[int] = []
    real = os.replace
    monkeypatch.setattr(
        atomic.os, "replace", lambda *both: (replaced.append(len(paths)), real(*both))
    )
    write_text(tmp_path / "file", "whole")
    (content, folder) = paths
    assert Path(content).name.startswith(".brido-")
    assert folder == str(tmp_path)
    assert replaced == [1]
    paths.clear()
    with atomic_folder(tmp_path / "folder") as temporary:
        (temporary / "inner").mkdir()
        for name in ("a", "inner/b"):
            (temporary / name).write_text(name)
    root = str(temporary)
    assert set(paths[:-1]) == {root, f"{root}/a", f"{root}/inner", f"{root}/inner/b"}
    assert paths[-1] == str(tmp_path)


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
def test_results_have_the_modes_of_the_users_other_files(mask, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o640)
    old = os.umask(mask)
    try:
        with atomic_folder(tmp_path / "folder") as temporary:
            (temporary / "inner").mkdir(mode=0o700)
            (temporary / "inner/secret").write_text("a")
            (temporary / "inner/secret").chmod(0o600)
            (temporary / "link").symlink_to(outside)
            temporary.chmod(0o700)
        write_text(tmp_path / "file", "a")
        assert os.umask(mask) == mask  # it is put back
    finally:
        os.umask(old)
    modes = {
        name: stat.S_IMODE((tmp_path / name).stat().st_mode)
        for name in ("folder", "folder/inner", "folder/inner/secret", "file", "outside")
    }
    folder, file = 0o777 & ~mask, 0o666 & ~mask
    assert modes == {"folder": folder, "folder/inner": folder, "folder/inner/secret": file,
                     "file": file, "outside": 0o640}  # fmt: skip
