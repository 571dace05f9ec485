"""The types that a user's script has of brido, as mypy sees them from outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = """
from brido import Summarizer, consensus_scores
from brido.search import SearchSettings

reveal_type(Summarizer.load("model").summarize(["A text."]))
reveal_type(consensus_scores([[0.5, 0.5]], 0))
reveal_type(SearchSettings())
"""


@pytest.mark.slow
def test_public_names_have_types(tmp_path: Path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", "script.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    wanted = ("list[brido.summarizer.summary.Summary]", "ndarray", "SearchSettings")
    for line, name in zip(revealed, wanted, strict=True):
        assert name in line
