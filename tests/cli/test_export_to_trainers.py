"""Exported pairs as they are: TRL's DPOTrainer trains on them, axolotl's own loaders read them.

axolotl pins other packages, so its wheel is installed alone, into a folder of its own. Its loaders
need no more than this environment has; its training is not run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from other_packages import install
from tiny_chat import CHATML, chat_tokenizer, tiny_llama

from brido.cli import export_pairs, score
from brido.models.checkpoint import save
from brido.utils.commands import invoke

pytestmark = pytest.mark.slow
ROWS = [
    {"document": f"The cat of day {n} sat in the sun.", "candidates": candidates}
    for n, candidates in enumerate(
        [
            ["the cat sat", "the cat sat in", "in the sun", "a dog"],
            ["the cat", "the cat sat", "no", "cat sat"],
            ["in the sun", "in the cat", "the sun", "birds"],
        ]
    )
]
# What axolotl does with each row, by the settings that docs/integrations.md names.
READ = """
import json, sys
from axolotl.prompt_strategies.dpo import load
from transformers import AutoTokenizer

rows = [json.loads(line) for line in open("pairs.jsonl")]
if sys.argv[1] == "chat":
    settings = {"type": "chat_template.default", "field_messages": "prompt"}
    read, _ = load("chat_template.default", {"datasets": [settings]})
    tokenizer = AutoTokenizer.from_pretrained("tokenizer")
    found = [read(row, tokenizer=tokenizer) for row in rows]
else:
    settings = {"type": {"field_prompt": "prompt"}}
    read = load("user_defined.default", {"datasets": [settings]})
    found = [read(row) for row in rows]
print("FOUND", json.dumps(found))
"""


def exported(folder: Path, chat: bool) -> Path:
    """The pairs of ROWS, as `brido score` and `brido export-pairs` write them."""
    given, scored, out = (folder / name for name in ("in.jsonl", "scored.jsonl", "pairs.jsonl"))
    given.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    invoke(score.command, [str(given), "--output", str(scored)])
    invoke(export_pairs.command, [str(scored), *["--chat"] * chat, "-o", str(out)])
    return out


@pytest.fixture(scope="module")
def axolotl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("axolotl"), "axolotl==0.19.0")


@pytest.mark.parametrize("form", ["chat", "texts"])
def test_axolotl_reads_the_exported_rows(form: str, axolotl: Path, tmp_path: Path) -> None:
    out = exported(tmp_path, form == "chat")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    chat_tokenizer(CHATML).save_pretrained(tmp_path / "tokenizer")
    done = subprocess.run(
        [sys.executable, "-c", READ, form],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(axolotl)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    line = next(one for one in done.stdout.splitlines() if one.startswith("FOUND"))
    found = json.loads(line.removeprefix("FOUND"))
    assert len(found) == len(rows) == len(ROWS)
    for got, row in zip(found, rows, strict=True):
        if form == "texts":
            names = ("prompt", "chosen", "rejected")
            assert {name: got[name] for name in names} == {name: row[name] for name in names}
            continue
        (asked,) = row["prompt"]
        assert asked["content"] in got["prompt"]
        assert got["prompt"].endswith("<|start|>assistant\n")
        for name in ("chosen", "rejected"):
            (answer,) = row[name]
            assert got[name] == answer["content"] + "<|end|>"


@pytest.mark.parametrize("chat", [True, False])
def test_some_steps_of_dpo(chat: bool, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="needs `pip install trl`")
    from datasets import load_dataset

    out = exported(tmp_path, chat)
    cache = str(tmp_path / "cache")
    pairs = load_dataset("json", data_files=str(out), split="train", cache_dir=cache)
    assert len(pairs) == 3
    assert all(0 < margin <= 1 for margin in pairs["margin"])
    # The reference model is read from the folder once more.
    save(tiny_llama(max_position_embeddings=1024), chat_tokenizer(), tmp_path / "model")
    settings = trl.DPOConfig(
        output_dir=str(tmp_path),
        max_steps=3,
        per_device_train_batch_size=3,
        learning_rate=1e-2,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
    )
    torch.set_num_threads(1)
    trainer = trl.DPOTrainer(str(tmp_path / "model"), args=settings, train_dataset=pairs)
    trainer.train()
    logged = [row for row in trainer.state.log_history if "rewards/margins" in row]
    assert len(logged) == 3
    # The chosen text gains on the rejected one.
    assert logged[-1]["rewards/margins"] > logged[0]["rewards/margins"]
