"""What README and docs/engines.md show of each engine is what it prints."""

import pytest
from alone import failures
from engine_examples import Example, check_command, examples, put_on_path

# These need weights or a server: tests/evaluation runs them on stand-ins.
STAND_INS = {"all"}
PYTHON = [each for each in examples() if each.kind == "python" and each.extra not in STAND_INS]
COMMANDS = [each for each in examples() if each.kind == "console"]


def test_every_engine_is_there():
    sources = "".join(each.source for each in examples())
    for name in (
        "rouge_matrix", "consensus_scores", "diverse_beam_search", "candidate_log_likelihood",
        "contrastive_loss", "QAFactEval", "GEval", "brido score", "brido vote-check",
        "brido export-pairs", "brido evaluate geval",
    ):  # fmt: skip
        assert name in sources
    assert {each.extra for each in examples()} == {"", "torch", "all"}


@pytest.mark.parametrize("example", PYTHON, ids=lambda each: each.name)
def test_python_prints_what_stands_below_it(example: Example):
    assert not failures({example.name: example.source})


@pytest.mark.parametrize("example", COMMANDS, ids=lambda each: each.name)
def test_a_command_prints_what_stands_below_it(example: Example, tmp_path):
    check_command(example, tmp_path, put_on_path(tmp_path))
