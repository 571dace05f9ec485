"""The train stage as DVC runs it: files in, files out, whatever happens on the way."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from accelerate import Accelerator
from pool_rows import pooled
from safetensors.torch import load_file
from tiny_chat import chat_tokenizer, tiny_llama
from tiny_models import SPECIAL, tiny_bart, word_tokenizer
from training_runs import Killed, kill_at

from brido.models import LanguageModel
from brido.models.checkpoint import save
from brido.models.settings import ReadingSettings
from brido.tables import CORPUS, POOL, SCORES, write_table
from brido.training import devices
from brido.work.shards import content_hash
from stages import paths, train

ROOT = Path(__file__).parent.parent.parent
WORDS = [f"w{number}" for number in range(30)]
PARAMS = """
checkpoints:
  base: {source: embedded}
reading: {default: {max_source_tokens: 24}}
training:
  epochs: 2
  batch_size: 3
  learning_rate: 0.01
  gamma: 5.0
  max_candidate_tokens: 12
  validation: {every: 4, documents: 4}
runtime: {device: cpu}
tuned: {vote: {}}
"""
TUNED = Path("data/checkpoints/vote")
HISTORY = Path("metrics/training/vote.csv")
# What accelerate wants for two processes without a GPU; `--cpu` would start one.
TWO = "--multi_gpu --num_processes 2 --num_machines 1"


def write_base(folder: Path) -> None:
    model = tiny_bart(
        vocab_size=len(SPECIAL) + len(WORDS), encoder_ffn_dim=16, decoder_ffn_dim=16,
        max_position_embeddings=32, dropout=0.1, init_std=0.02,
    )  # fmt: skip
    model.generation_config.max_length = 12
    model.generation_config.num_beams = 2
    save(model, word_tokenizer(words=WORDS), folder)


def write_split(split: str, documents: int, same: int = 0) -> None:
    """Three candidates a document; the first `same` documents have three equal ones."""
    corpus, candidates, scores = [], [], []
    for number in range(documents):
        words = [WORDS[(7 * number + step) % len(WORDS)] for step in range(12)]
        name = f"{split}-{number}"
        texts = [" ".join(words[:4]), " ".join(words[2:5]), " ".join(words[9:])]
        if number < same:
            texts = texts[:1] * 3
        reference = " ".join(words[1:5])
        corpus.append(
            {"id": name, "document": " ".join(words), "summary": reference}
            | {"references": [reference]}
        )
        candidates.append(pooled(name, texts))
        scores.append({"id": name, "scores": [0.4, 0.6, 0.2], "order": [1, 0, 2]})
    write_table(paths.corpus(split), [corpus], CORPUS)
    write_table(paths.pool(split), [candidates], POOL)
    metadata = {"candidates": content_hash(paths.pool(split))}
    write_table(paths.scores("vote", split), [scores], SCORES, metadata)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with everything that the stage reads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stages.train", "vote"])
    torch.set_num_threads(1)
    Path("params.yaml").write_text(PARAMS)
    write_base(paths.checkpoint("base"))
    write_split("train", 14, same=2)
    write_split("validation", 6)
    return tmp_path


def rows() -> list[dict[str, str]]:
    with HISTORY.open() as stream:
        return list(csv.DictReader(stream))


def test_writes_a_checkpoint_and_the_history(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train.main()
    said = capsys.readouterr().err
    assert "2 train documents are left out" in said
    assert "train-0, train-1" in said
    tuned, base = load_file(TUNED / "model.safetensors"), paths.checkpoint("base")
    assert tuned.keys() == load_file(base / "model.safetensors").keys()
    assert any(
        not torch.equal(tuned[n], v) for n, v in load_file(base / "model.safetensors").items()
    )
    assert {file.name for file in TUNED.iterdir()} == {file.name for file in base.iterdir()}
    config = (TUNED / "config.json").read_text()
    assert config == (base / "config.json").read_text()
    # 12 documents that have an order, 3 an update, 2 epochs.
    assert [int(row["update"]) for row in rows()] == [0, 4, 8]
    for name in ("tau", "top1", "rouge", "r1", "mentions_unsupported"):
        assert all(row[name] for row in rows()), name
    assert not list((project / ".brido/work/train").rglob("*.pt"))


def made() -> dict[str, bytes]:
    """Everything that the stage wrote."""
    files = (file for file in sorted(TUNED.rglob("*")) if file.is_file())
    return {str(file): file.read_bytes() for file in (*files, HISTORY)}


def test_again_and_with_a_tracker_it_writes_the_same_bytes_and_drops_stale_work(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train.main()
    first = made()
    stale = project / ".brido/work/train/vote/0123456789abcdef"
    stale.mkdir(parents=True)
    tracker = Mock()
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    start_trackers = lambda own, *_: setattr(own, "trackers", [tracker])  # noqa: E731
    monkeypatch.setattr(Accelerator, "init_trackers", start_trackers)
    Path("params.yaml").write_text(PARAMS.replace("{device: cpu}", "{trackers: [mlflow]}"))
    train.main()
    assert made() == first
    assert not stale.exists()
    logged = [call.args[0] for call in tracker.log.call_args_list]
    assert sum("validation/log_p_elected" in row for row in logged) == 3
    tracker.finish.assert_called_once()


def test_a_killed_run_ends_in_the_same_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("params.yaml").write_text(PARAMS.replace("device: cpu", "checkpoint_minutes: 1.0e-9"))
    train.main()
    expected = made()
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_at(patch, 6)
        train.main()
    stored = {file.name for file in Path(".brido/work/train").rglob("*.pt")}
    assert stored == {"state.pt"}
    train.main()
    assert made() == expected


def start(project: Path, **variables: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}
    return subprocess.Popen(
        [sys.executable, "-m", "stages.train", "vote"],
        cwd=project, env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def train_again_on_two(project: Path, says: str, rel: float) -> None:
    """What was trained here on one process is trained on two, which say so: the same losses."""
    alone = rows()
    HISTORY.unlink()
    launched = start(project, BRIDO_LAUNCH=TWO)
    said = launched.communicate()[1]
    assert launched.returncode == 0, said
    assert f"updates on 2 processes, {says}" in said
    for one, two in zip(alone, rows(), strict=True):
        assert float(two["loss"]) == pytest.approx(float(one["loss"]), rel=rel)


@pytest.mark.slow
def test_brido_launch_trains_on_two_processes(project: Path) -> None:
    assert start(project).wait() == 0
    train_again_on_two(project, "learning", rel=1e-5)


@pytest.mark.slow
def test_brido_launch_shards_a_decoder_only_model(project: Path) -> None:
    """runtime.fsdp: two processes with half of the weights each make the folder that one makes."""
    shutil.rmtree(paths.checkpoint("base"))
    base = LanguageModel(tiny_llama(), chat_tokenizer(), ReadingSettings(max_source_tokens=120))
    base.save(paths.checkpoint("base"))
    settings = PARAMS.replace("max_source_tokens: 24", "max_source_tokens: 120")
    Path("params.yaml").write_text(settings)
    assert start(project).wait() == 0
    expected = load_file(TUNED / "model.safetensors")
    config = (TUNED / "config.json").read_text()
    Path("params.yaml").write_text(settings.replace("device: cpu", "device: cpu, fsdp: true"))
    train_again_on_two(project, "a part of the model in each", rel=1e-4)
    assert (TUNED / "config.json").read_text() == config
    for name, value in load_file(TUNED / "model.safetensors").items():
        torch.testing.assert_close(value, expected[name], rtol=1e-3, atol=1e-4)
