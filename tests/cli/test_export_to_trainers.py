"""Exported pairs as they are: TRL's DPOTrainer trains on them."""

import json
from pathlib import Path

import pytest
import torch
from tiny_chat import chat_tokenizer, tiny_llama

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


def exported(folder: Path, chat: bool) -> Path:
    """The pairs of ROWS, as `brido score` and `brido export-pairs` write them."""
    given, scored, out = (folder / name for name in ("in.jsonl", "scored.jsonl", "pairs.jsonl"))
    given.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    invoke(score.command, [str(given), "--output", str(scored)])
    invoke(export_pairs.command, [str(scored), *["--chat"] * chat, "-o", str(out)])
    return out


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
