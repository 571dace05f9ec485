"""`brido init own FOLDER`: a project of its own, which leaves the checkout as it is."""

import subprocess
from pathlib import Path

import pytest
from own_articles import abstracts, write_jsonl

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
    assert Path("dvc.yaml").resolve() == ROOT / "dvc.yaml"
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    assert {"params.yaml", "dvc.yaml", "stages", ".dvc/config"} <= set(tracked.stdout.split())
    clean = subprocess.run(["git", "status", "--short"], capture_output=True, text=True, check=True)
    assert clean.stdout == ""
    # Again, from inside: the old settings are kept.
    own("--train", str(home / "a.jsonl"), "--minutes", "5")
    own(".", "--train", str(home / "a.jsonl"), "--id-column", "paper_id")
    assert Path(".brido/params.previous.yaml").is_file()


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
