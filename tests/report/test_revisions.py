"""`brido diff`: two revisions of a small DVC project, one of them an experiment."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from dvc.repo import Repo
from dvc_project import commit, run

from brido.cli.main import group
from brido.report.revisions import WORKSPACE, compare, read_revision
from brido.report.settings import ReportSettings
from brido.tables import CORPUS, evaluation_schema, write_table
from brido.utils.errors import BridoError

# What the command prints, whole; its numbers by hand.
APPROVED = Path(__file__).parents[1] / "approved/diff.txt"
SIZE = 30
COLUMNS = ("mentions.good", "mentions.unsupported", "rouge.r1", "extractiveness.length")


def measured(system, good, r1=40.0, words=20.0, size=SIZE, **signature):
    """Write what was measured of a system: the first `good` summaries are good."""
    rows = [
        {"id": f"d{place}", "detail": "{}", "mentions.good": float(place < good),
         "mentions.unsupported": 1.0 - (place < good), "rouge.r1": r1,
         "extractiveness.length": words}
        for place in range(size)
    ]  # fmt: skip
    path = Path(f"data/evaluation/{system}/test.parquet")
    write_table(path, [rows], evaluation_schema(COLUMNS), {"signature": {"rouge": signature}})


def documents(text="The text", size=SIZE):
    rows = [
        {"id": f"d{place}", "document": f"{text} {place}.", "summary": "s", "references": ["s"]}
        for place in range(size)
    ]
    write_table(Path("data/corpus/test.parquet"), [rows], CORPUS)


def chosen(system, control="control", by="mentions.good"):
    about = {"by": by, "measures": "mentions.good", "chosen": system, "control": control}
    Path("metrics").mkdir(exist_ok=True)
    Path("metrics/choice.json").write_text(json.dumps(about))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A commit in which vote is kept, and an experiment with another code in which brio is."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(folder, "git", "init", "-q", "-b", "main")
        with Repo.init() as repo:
            commit(folder, "start")
            documents()
            for system, good in {"base": 15, "vote": 18, "control": 15}.items():
                measured(system, good)
            chosen("vote")
            repo.add(["data/corpus", "data/evaluation"])
            commit(folder, "run")
            measured("brio", 27, r1=41.0, stemmer=False)
            chosen("brio")
            repo.add(["data/evaluation"])
            run(folder, "git", "add", "-A")
            repo.experiments.save(name="half", force=True)
    return folder


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(*revisions):
    return CliRunner().invoke(group, ["diff", *revisions], catch_exceptions=False).output


def test_the_whole_text(project):
    """Paired, 9 of 30 kept summaries are better: 30 points, with a standard error of 8.4."""
    printed = told("main", "half")
    assert printed == APPROVED.read_text(encoding="utf-8")
    # The workspace is as the experiment left it.
    shown = [line.split()[2:] for line in printed.splitlines()[2:14]]
    assert [line.split()[2:] for line in told().splitlines()[2:14]] == shown


def test_documents_that_only_one_of_them_has_are_left_out_and_nobody_stands_twice(project):
    """The same id is not the same document."""
    rows = [
        {"id": f"d{place}", "document": f"{text} {place}.", "summary": "s", "references": ["s"]}
        for place, text in enumerate(15 * ["The text"] + 5 * ["Another text"])
    ]
    write_table(Path("data/corpus/test.parquet"), [rows], CORPUS)
    for system in ("base", "brio", "control"):
        measured(system, 10, size=20)
    chosen("base", control=None, by="rouge.r1")
    lines = told("main").splitlines()
    assert lines[-1].startswith("15 test documents;")
    assert lines[-1].endswith("20 documents that only one of them has are left out.")
    # Of these 15 base had 15 good ones, and has 10. What measures stands beside what decides.
    assert "ROUGE-1" in lines[2]
    assert lines[3].split()[2:5] == ["100.0", "66.7", "-33.3"]
    assert lines[3].endswith("worse")
    alone = told(WORKSPACE, WORKSPACE).splitlines()[2:]
    assert [line.split()[0] for line in alone if line[:1].isalpha()] == ["base"]
    documents("Another text", size=20)
    with pytest.raises(BridoError, match="main and workspace have no test document in common"):
        compare(read_revision("main"), read_revision(WORKSPACE), ReportSettings())
