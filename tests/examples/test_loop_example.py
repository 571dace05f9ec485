"""examples/loop.py gives the losses of the stages, and runs as a command."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import small_project
import torch

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.settings.load import load_params
from brido.tables import CORPUS, read_rows
from brido.training.run import TrainState
from brido.training.train import train as run_task
from stages import generate, pairwise, paths, pool, score, train

ROOT = Path(__file__).parents[2]
TRAINING = {"batch_size": 2, "epochs": 2, "learning_rate": 0.01, "max_candidate_tokens": 20}


@pytest.fixture(scope="module")
def loop() -> ModuleType:
    """The example as a module."""
    path = ROOT / "examples" / "loop.py"
    spec = importlib.util.spec_from_file_location("example_loop", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("alpha", [0, 3])
def test_its_losses_are_those_of_the_stages(loop, alpha, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    torch.set_num_threads(1)
    beams = {"num_candidates": 4, "num_beams": 4, "num_beam_groups": 4}
    beams |= {"keep_every": 1, "max_length": 20}
    small_project.write_project(
        tmp_path,
        generation=beams,
        pool={"too_few": "leave_out"},
        training=TRAINING,
        scoring={"alpha": alpha, "information": 0.0},
    )
    # Before the stages, which tune the model that the task holds.
    params = load_params()
    generate.make(params, "base")
    for split in paths.TUNING_SPLITS:
        pool.join(split, params)
        pairwise.compare(split, params)
    score.write_scores(params, "vote")
    reported = []
    count = TrainState.count

    def noting(state, report, updates):
        reported.append((report.loss, report.cross_entropy, report.contrastive))
        count(state, report, updates)

    monkeypatch.setattr(TrainState, "count", noting)
    run_task(train.make_task(params, "vote"))

    language = LanguageModel.load(paths.checkpoint("base"), params.reading_of("base"))
    rows = read_rows(paths.corpus("train"), CORPUS, "")[: params.documents.train]
    texts = [(row["document"], row["summary"]) for row in rows]
    search = {"num_candidates": 4, "diversity_penalty": 0.5, "max_length": 20}
    settings = loop.Settings(**search, **TRAINING, alpha=alpha)
    found = [[one.item() for one in losses] for losses in loop.tune(language, texts, settings)]
    assert len(found) == len(reported) > 6
    for mine, theirs in zip(found, reported, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    # The ranking has a part in it.
    assert sum(contrastive > 0 for _, _, contrastive in reported) > 4


def test_defaults_are_those_of_the_pipeline(loop):
    from brido.training.settings import TrainingSettings

    own, theirs = vars(loop.Settings()), TrainingSettings().model_dump()
    shared = own.keys() & theirs.keys()
    assert len(shared) == 10
    assert {name: own[name] for name in shared} == {name: theirs[name] for name in shared}


@pytest.mark.slow
def test_it_runs_as_a_command(tmp_path):
    small_project.write_checkpoint(tmp_path / "model")
    rows = [{"document": small_project.document(n)} for n in range(60)]
    rows[0]["reference"] = "w1 w2 w3"
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = subprocess.run(
        [
            sys.executable, ROOT / "examples/loop.py", "--model", "model",
            "--documents", "train.jsonl", "--candidates", "4",
            "--max-source-tokens", "20", "--max-length", "30",
        ],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("update") >= 3
    reading = ReadingSettings(max_source_tokens=20)
    assert LanguageModel.load(tmp_path / "tuned", reading).model.config.model_type == "bart"
