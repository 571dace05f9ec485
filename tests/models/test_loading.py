"""Nothing of a checkpoint is ever run, and one function loads them all."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVIL = "import pathlib; pathlib.Path({target!r}).touch()\n"


@pytest.fixture
def evil(tmp_path):
    """A model of a kind of its own, whose code leaves a file behind when it is run."""
    folder = tmp_path / "evil"
    folder.mkdir()
    code = EVIL.format(target=str(tmp_path / "it ran"))
    code += (
        "from transformers import PretrainedConfig\nclass EvilConfig(PretrainedConfig):\n    pass\n"
    )
    (folder / "evil.py").write_text(code)
    config = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.EvilConfig"}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_a_yes_on_the_terminal_changes_nothing(evil):
    out = str(evil.parent / "out")
    store = (
        "from pathlib import Path; from brido.models.checkpoint import store_checkpoint;"
        f"store_checkpoint({str(evil)!r}, None, Path({out!r}), 'checkpoints.x')"
    )
    done = subprocess.run(
        [sys.executable, "-c", store], cwd=ROOT, input="y\n" * 99, capture_output=True, text=True
    )
    assert "brido never runs such code" in done.stderr
    assert "[y/N]" not in done.stdout + done.stderr
    assert not (evil.parent / "it ran").exists()
    assert not (evil.parent / "out").exists()


def test_nobody_else_loads_a_checkpoint():
    for folder in ("brido", "stages", "experiments"):
        for path in (ROOT / folder).rglob("*.py"):
            if path != ROOT / "brido" / "models" / "loading.py":
                assert ".from_pretrained(" not in path.read_text(encoding="utf-8"), path
