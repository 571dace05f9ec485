"""`brido init own FOLDER`: a project of its own, which leaves the checkout as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from own_articles import abstracts, write_jsonl

from brido.cli.config import other_stages
from brido.cli.init import command
from brido.settings.load import load_params
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

ROOT = Path(__file__).parents[2]
COLUMNS = ("--document-column", "abstract", "--summary-column", "tldr", "--model", "embedded")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_jsonl(tmp_path / "a.jsonl", abstracts(70))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own(*options: str) -> None:
    invoke(command, ["own", *options, *COLUMNS])


def test_a_project_with_links_settings_and_a_commit(home, monkeypatch, capsys) -> None:
    before = (ROOT / "params.yaml").read_bytes(), (ROOT / "dvc.yaml").read_bytes()
    own("my/run", "--train", "a.jsonl")
    assert ((ROOT / "params.yaml").read_bytes(), (ROOT / "dvc.yaml").read_bytes()) == before
    said = capsys.readouterr().out
    assert f"cd {home / 'my/run'} && dvc repro" in said
    assert f"{home / 'my/run/params.yaml'} is written" in said
    monkeypatch.chdir(home / "my/run")
    # Paths hold in the new folder, and DVC knows the stages.
    assert load_params().data.files.train == [str(home / "a.jsonl")]
    assert Path("stages").resolve() == ROOT / "stages"
    # DVC reads it from commits, where a link is nothing but its target.
    assert not Path("dvc.yaml").is_symlink()
    assert Path("dvc.yaml").read_bytes() == before[1]
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    assert {"params.yaml", "dvc.yaml", "stages", ".dvc/config"} <= set(tracked.stdout.split())
    clean = subprocess.run(["git", "status", "--short"], capture_output=True, text=True, check=True)
    assert clean.stdout == ""
    # Again, from inside: the old settings are kept.
    own("--train", str(home / "a.jsonl"), "--minutes", "5")
    own(".", "--train", str(home / "a.jsonl"), "--id-column", "paper_id")
    assert Path(".brido/params.previous.yaml").is_file()


def test_a_folder_that_cannot_be_made_is_named(home) -> None:
    with pytest.raises(BridoError, match="a.jsonl/run cannot be written"):
        own("a.jsonl/run", "--train", "a.jsonl")


def test_dvc_compares_a_run_with_a_commit(home, monkeypatch) -> None:
    own("my/run", "--train", "a.jsonl")
    monkeypatch.chdir(home / "my/run")
    Path("metrics").mkdir()
    Path("metrics/headline.json").write_text('{"chosen": {"good": 0.25}}')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "a run"], check=True)
    Path("metrics/headline.json").write_text('{"chosen": {"good": 0.75}}')
    compare = [sys.executable, "-m", "dvc", "metrics", "diff", "--json"]
    shown = subprocess.run(compare, capture_output=True, text=True, check=True)
    good = json.loads(shown.stdout)["metrics/headline.json"]["chosen.good"]
    assert (good["old"], good["new"]) == (0.25, 0.75), shown.stderr


def test_config_names_a_copy_of_dvc_yaml_that_is_older_than_the_stages(home) -> None:
    own("my/run", "--train", "a.jsonl")
    folder = home / "my/run"
    assert list(other_stages(folder)) == list(other_stages(ROOT)) == []
    (folder / "dvc.yaml").write_text("stages: {}\n")
    (sentence,) = other_stages(folder)
    assert f"cp {ROOT / 'dvc.yaml'} {folder / 'dvc.yaml'}" in sentence
    # So does `init` itself.
    own("my/run", "--train", "a.jsonl")
    assert list(other_stages(folder)) == []


def test_bad_input_makes_no_folder(home) -> None:
    with pytest.raises(BridoError, match=r"--train: no file matches .*no\.jsonl"):
        own("my/run", "--train", "no.jsonl")
    assert not (home / "my").exists()


def test_a_folder_with_something_else_is_refused(home) -> None:
    (home / "full").mkdir()
    (home / "full/thesis.tex").touch()
    for name in ("full", "a.jsonl", str(ROOT / "docs")):
        with pytest.raises(BridoError, match=Path(name).name):
            own(name, "--train", "a.jsonl")
    assert [path.name for path in (home / "full").iterdir()] == ["thesis.tex"]
    # As a shell leaves a pattern without quotes.
    with pytest.raises(BridoError, match=r"a\.jsonl is a file.* in quotes"):
        own("a.jsonl", "--train", "a.jsonl")
