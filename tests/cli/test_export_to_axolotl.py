"""Exported pairs are read by axolotl's own loaders of preference data as they are.

axolotl pins other packages, so its wheel is installed alone, into a folder of its own. Its loaders
need no more than this environment has; its training is not run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from other_packages import install
from tiny_chat import CHATML, chat_tokenizer

from brido.cli import export_pairs, score
from brido.utils.commands import invoke

pytestmark = pytest.mark.slow
ROWS = [
    {"document": f"The cat of day {n} sat in the sun.", "candidates": candidates}
    for n, candidates in enumerate(
        [["the cat sat", "the cat sat in", "a dog"], ["in the sun", "in the cat", "birds"]]
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


@pytest.fixture(scope="module")
def axolotl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("axolotl"), "axolotl==0.19.0")


@pytest.mark.parametrize("form", ["chat", "texts"])
def test_axolotl_reads_the_exported_rows(form: str, axolotl: Path, tmp_path: Path) -> None:
    given, scored, out = (tmp_path / name for name in ("in.jsonl", "scored.jsonl", "pairs.jsonl"))
    given.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    invoke(score.command, [str(given), "--output", str(scored)])
    options = ["--chat"] if form == "chat" else []
    invoke(export_pairs.command, [str(scored), *options, "-o", str(out)])
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
