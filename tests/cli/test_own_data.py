"""Own data as docs/tutorial.md has it, word for word."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
import smollm2
from dvc.utils.hydra import apply_overrides
from dvc_project import ROOT, copy_project, run
from own_articles import abstracts, write_jsonl
from ruamel.yaml import YAML

from brido.settings.load import read_yaml

# What only a machine with a network and time can run: the environment of the tests has the first
# two done already.
LEFT_OUT = ("make setup", "source ", "pip install", "dvc exp run -n ", "brido summarize")


def blocks(name: str) -> list[str]:
    """The console blocks of a document, without the commands that are left out."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    kept = (
        "\n".join(line for line in block.splitlines() if not line.startswith(LEFT_OUT))
        for block in found
    )
    return [block for block in kept if block.strip()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone with an environment that is there already."""
    folder = copy_project(tmp_path)
    (folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    for stamp in (".runtime", ".dev"):
        (folder / ".venv" / stamp).touch()
    return folder


def make_small(params: Path) -> None:
    """What takes minutes takes seconds. How large the plan is depends on the machine.

    A summary may be cut, but a candidate that is cut does not vote: candidates have more room.
    """
    settings = read_yaml(params)
    base = settings["checkpoints"]["base"]["fine_tuning"]
    base |= {"documents": 4, "epochs": 1, "batch_size": 4, "max_summary_tokens": 48}
    settings["data"]["max_evaluated"] = 6
    settings["documents"] |= {"train": 4, "validation": 6}
    settings["generation"]["base"] |= {"num_candidates": 4, "max_length": 64}
    settings["likelihood"] = {"others": 1, "seed": 0}
    settings["training"] |= {"batch_size": 4, "max_candidate_tokens": 48}
    settings["training"]["validation"] |= {"every": 1, "documents": 1}
    settings["decoding"] |= {"num_beams": 1, "max_length": 32}
    settings["systems"] = ["base"]
    settings["tuned"], settings["variants"] = {"vote": {}}, {}
    settings["evaluation"]["metrics"] = ["rouge", "mentions"]
    YAML().dump(settings, params)


@pytest.mark.slow
def test_papers_in_one_file_from_init_to_a_report(project: Path):
    rows = [
        {"id": row["paper_id"], "document": row["abstract"], "summary": row["tldr"]}
        for row in abstracts(60)
    ]
    write_jsonl(project / "my/articles.jsonl", rows)
    (first,) = [block for block in blocks("docs/tutorial.md") if "brido init" in block]
    # Without a word about the model it would be SmolLM2 here; this is the one that needs nothing.
    said = run(project, "bash", "-c", f"{first.strip()} --model embedded")
    assert "my/run && dvc repro" in said
    tracked = run(project, "git", "status", "--short")
    own = project / "my/run"
    # Six stages less: tests/test_pipeline.py runs this system.
    apply_overrides(own / "params.yaml", ["~tuned.information"])
    verdict = run(own, "dvc", "repro")
    choice = json.loads((own / "metrics/choice.json").read_text())
    assert choice["documents"] >= 20
    for line in choice["verdict"]:
        assert line in " ".join(verdict.split())  # its lines are folded
    assert {"control", "vote", "short", "base"} <= set(choice["systems"])
    assert (own / "data/chosen/config.json").is_file()
    assert (own / "report/index.html").is_file()
    assert "the makers' own files" in (own / "report/model_card.md").read_text()
    assert "Running stage" not in run(own, "dvc", "repro")
    # The clone is as it was.
    assert run(project, "git", "status", "--short") == tracked
    # Nothing of the user's is Git's.
    assert "my/" not in run(project, "git", "status", "--short")


@pytest.mark.slow
@pytest.mark.skipif(not smollm2.INSTALLED, reason=smollm2.REASON)
def test_the_tutorial_with_a_language_model(project: Path):
    said = ""
    for block in blocks("docs/tutorial.md"):
        # The model of this test is large enough for every core.
        cores = str(os.cpu_count())
        commands = f"source .venv/bin/activate\n{block}"
        said += run(project, "bash", "-ec", commands, OMP_NUM_THREADS=cores)
        if "brido init" in block:
            make_small(project / "my/run/params.yaml")
    assert "SmolLM2-135M-Instruct" in said
    choice = json.loads((project / "my/run/metrics/choice.json").read_text())
    assert choice["reason"] == "few documents"
    for line in choice["verdict"]:
        assert " ".join(line.split()) in " ".join(said.split())
