"""Which stages a changed parameter reruns: read off DVC's graph, and once by a real run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import networkx
import pytest
from dvc.repo import Repo

ROOT = Path(__file__).parent.parent

TAIL = {"train", "decode@tuned", "evaluate-tuned", "report"}
EVALUATE_ALL = {"evaluate-reference", "evaluate-base", "evaluate-tuned"}
AFTER_GENERATE = {"generate", "pairwise", "score", *TAIL}


@pytest.fixture(scope="module")
def graph():
    with Repo(str(ROOT)) as repo:
        yield repo.index.graph


def rerun(graph, key):
    """The stages whose params cover `key`, and every stage downstream of them."""
    stages = set()
    for stage in graph:
        for param in stage.params:
            if any(key == name or key.startswith(f"{name}.") for name in param.params):
                stages |= {stage, *networkx.ancestors(graph, stage)}
    return {_short(stage.addressing) for stage in stages}


def _short(name):
    """evaluate@METRIC-SYSTEM -> evaluate-SYSTEM: the metric does not matter here."""
    name, _, item = name.partition("@")
    return f"evaluate-{item.split('-')[-1]}" if name == "evaluate" else f"{name}@{item}".strip("@")


@pytest.mark.parametrize(
    ("key", "stages"),
    [
        ("scoring.alpha", {"score", *TAIL}),
        ("scoring.normalization", {"score", *TAIL}),
        ("generation.diversity_penalty", AFTER_GENERATE),
        ("pairwise.value", AFTER_GENERATE - {"generate"}),
        ("training.gamma", TAIL),
        ("decoding.length_penalty", {"decode@base", "decode@tuned", *EVALUATE_ALL} | {"report"}),
        ("report.bootstrap_samples", {"report"}),
        ("runtime.batch_tokens", set()),
    ],
)
def test_a_changed_key_reruns_these_stages(graph, key, stages):
    found = rerun(graph, key)
    if key.startswith("decoding"):
        stages = stages - {"evaluate-reference"}
    assert found == stages


def test_a_metric_reruns_alone(graph):
    assert rerun(graph, "evaluation.rouge.use_stemmer") == {*EVALUATE_ALL, "report"}


def test_everything_follows_the_data(graph):
    assert rerun(graph, "data.world.seed") == {_short(stage.addressing) for stage in graph}


SMALL = {
    "data.world.train": 400,
    "data.world.validation": 40,
    "data.world.test": 40,
    "checkpoints.base.embedded.epochs": 1,
    "checkpoints.base.embedded.d_model": 64,
    "checkpoints.base.embedded.ffn_dim": 64,
    "generation.train_documents": 48,
    "generation.validation_documents": 16,
    "generation.num_candidates": 4,
    "generation.num_beams": 4,
    "training.validation.documents": 8,
    "training.validation.every": 3,
    "report.bootstrap_samples": 50,
    "report.page_documents": 5,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A fresh clone's files, with the sizes of params.yaml made small, as a git and DVC project."""
    folder = tmp_path_factory.mktemp("project")
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listing.stdout.decode().splitlines():
        if not name.startswith(("tests/", "benchmarks/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    settings = [part for key, value in SMALL.items() for part in ("-S", f"{key}={value}")]
    run(folder, "git", "init", "-q")
    run(folder, "git", "add", "-A")
    run(folder, "git", *IDENTITY, "commit", "-qm", "start")
    output = run(folder, "dvc", "exp", "run", "-n", "small", *settings)
    run(folder, "git", "add", "-A")
    run(folder, "git", *IDENTITY, "commit", "-qm", "small")
    return folder, output


IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.org")


def run(folder, *command):
    """The standard output and error of a command run in the project; it must succeed."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def stages_run(output):
    """The stages that a `dvc repro` or `dvc exp run` says it ran."""
    lines = [line for line in output.splitlines() if line.startswith("Running stage '")]
    return {_short(line.split("'")[1]) for line in lines}


@pytest.mark.slow
def test_the_whole_pipeline_as_a_dvc_user_sees_it(project):
    folder, first = project
    assert stages_run(first) >= {"download", "checkpoint@base", "train", "report"}
    systems = {path.stem for path in (folder / "metrics/systems").glob("*.json")}
    assert systems == {"reference", "base", "tuned"}
    before = {
        path.name: path.read_bytes() for path in (folder / "metrics").rglob("*") if path.is_file()
    }

    again = run(folder, "dvc", "repro")
    assert stages_run(again) == set()

    output = run(folder, "dvc", "exp", "run", "-S", "scoring.alpha=31")
    assert stages_run(output) == {"score", *TAIL}
    assert json.loads((folder / "metrics/systems/base.json").read_text())
    assert "tuned" in run(folder, "dvc", "metrics", "diff", "--all")
    assert "31" in run(folder, "dvc", "params", "diff")

    # Back at alpha 0 with every stage forced: the same bytes as the first time.
    run(folder, "git", "checkout", "-q", "--", ".")
    run(folder, "dvc", "repro", "--force")
    after = {
        path.name: path.read_bytes() for path in (folder / "metrics").rglob("*") if path.is_file()
    }
    assert after.keys() == before.keys()
    changed = [name for name in after if after[name] != before[name] and name != "training.csv"]
    assert changed == []


@pytest.mark.slow
def test_bad_settings_stop_a_stage_with_a_sentence_and_code_2(project):
    folder, _ = project
    text = (folder / "params.yaml").read_text()
    (folder / "params.yaml").write_text(text.replace("alpha: 0", "alhpa: 0"))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "stages.score"], cwd=folder, capture_output=True, text=True
        )
    finally:
        (folder / "params.yaml").write_text(text)
    assert done.returncode == 2
    assert "did you mean scoring.alpha?" in done.stderr
    assert "Traceback" not in done.stderr
