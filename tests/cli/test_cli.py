"""The command `brido`: the same code as `python -m`, one line of help each, nothing heavy early."""

import subprocess
import sys
from pathlib import Path

import click

from brido.cli import main as cli

ROOT = Path(__file__).parents[2]


def test_help_has_a_line_for_each_command_and_loads_nothing_heavy():
    loaded = """
import sys
from contextlib import suppress
from brido.cli.main import COMMANDS, main

def heavy(*more):
    return sorted({"torch", "transformers", "datasets", *more} & {*sys.modules})

main(["-h"])
print(heavy("numpy", "numba", "pyarrow", "pydantic"))
for name in COMMANDS:
    main([name, "--help"])
    print(name, heavy())
"""
    done = subprocess.run(
        [sys.executable, "-c", loaded],
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "[]" in lines
    assert [line for line in lines if line.endswith("[]")][1:] == [f"{n} []" for n in cli.COMMANDS]
    told = {line.split()[0]: line for line in lines if line[:2] == "  " and line[2] != " "}
    for name in cli.COMMANDS:
        assert len(told[name].split()) > 2
        assert len(told[name]) <= 80
    for group in cli.GROUPS:
        assert f"{group}:" in lines


def test_a_shell_that_completes_a_misspelt_command_gets_no_error():
    context = click.Context(cli.group, resilient_parsing=True)
    assert cli.group.get_command(context, "scor") is None
