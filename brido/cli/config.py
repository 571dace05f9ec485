"""Check a params.yaml: every problem in one message, misspelt keys with a suggestion.

DVC removes a stage's old results before the stage reads its settings, so check them before DVC
starts.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from brido.settings.load import PARAMS_FILE, load_params

PROGRAM = "python -m brido config"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?", default=PARAMS_FILE, help="params.yaml")
    return parser


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Check the file that the command line names, or params.yaml, and say that it is fine."""
    path = parser(program).parse_args(arguments).file
    load_params(path)
    print(f"{path} is fine: every key is known and every value fits")
