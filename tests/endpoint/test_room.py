"""The room knows servers and answers: nothing of what is asked, or who asks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What one caller asks about; the store's place and its tables' names are those of version 0.1, and
# the extra that brings what this room needs is called after its first caller.
WORDS = re.compile(r"judge|\bmarks?\b|criteri|summar|geval|candidate", re.IGNORECASE)
FORMAT = re.compile(
    r'_TABLES = """.*?"""|INTO judges|JOIN judges j ON.*?a\.judge|"\.brido/judge/.*"'
    r'|extra\("judge"\)|_PUBLIC, "judge"',
    re.DOTALL,
)


def sources():
    return sorted((ROOT / "brido" / "endpoint").glob("*.py"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_no_word_of_who_asks(path):
    text = FORMAT.sub("", path.read_text())
    lines = [line for line in text.splitlines() if "version 0.1" not in line]
    assert [line for line in lines if WORDS.search(line)] == []


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("brido.endpoint", ("brido.settings", "brido.evaluation", "openai", "torch")),
        ("brido.utils.store", ("brido.endpoint", "openai", "asyncio", "ssl")),
    ],
)
def test_it_is_imported_without_settings_metrics_and_network_clients(module, unwanted):
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & set(unwanted)
