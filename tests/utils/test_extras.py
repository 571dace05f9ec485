"""What is not installed: which extra brings it, and one sentence that says so."""

import gzip
import json
import re
import subprocess
import sys

import pytest
from alone import environment

from brido.utils.extras import EXTRAS

SENTENCE = r"\w+ is not installed, and this part of brido needs it\. .*`pip install \"\.\[({})\]\"`"
BEYOND = sorted(set().union(*EXTRAS.values()))


# What is imported or called without any extra.
IMPORTS = (
    "from brido.search import diverse_beam_search",
    "from brido.search import SearchSettings",
    "from brido.likelihood import candidate_log_likelihood",
    "from brido.training.loss import contrastive_loss",
    "from brido.models import LanguageModel",
    "from brido.evaluation.qafacteval import QAFactEval; QAFactEval.load()",
    "from brido.evaluation.geval import GEval",
    "from brido.endpoint import Client",
    "from brido.evaluation import Metric",
    "from brido import Summarizer",
)


@pytest.fixture
def alone(tmp_path):
    """The environment of a Python with what the wheel itself needs, nothing else."""
    row = {"document": "a", "summary": "b"}
    (tmp_path / "lines.jsonl").write_text(json.dumps(row) + "\n")
    return environment(tmp_path, BEYOND)


def test_public_names_say_what_is_missing(alone):
    code = "".join(
        f"try:\n    {line}\nexcept ImportError as error:\n    print(error)\n" for line in IMPORTS
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
    for line, name in zip(done.stdout.splitlines(), IMPORTS, strict=True):
        assert re.fullmatch(SENTENCE.format("torch|all"), line), name


def test_what_needs_no_extra_runs_without_one(alone, tmp_path):
    lines = '{"document": "a b.", "candidates": ["a b.", "a c.", "d"]}\n'
    (tmp_path / "lines.jsonl").write_text(lines)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for call in (
        "brido --help", "brido score lines.jsonl", "brido score packed.jsonl.gz -o out.jsonl",
        "brido vote-check packed.jsonl.gz", "brido export-pairs out.jsonl",
    ):  # fmt: skip
        command = [sys.executable, "-m", *call.split()]
        subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, check=True)
