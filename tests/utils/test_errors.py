"""Helpers of messages."""

import subprocess
import sys

import pytest

from brido.utils.errors import BridoError, parsing, quoted, short, some


def test_what_a_file_holds_is_escaped_and_cut():
    assert short("id-7") == "id-7"
    assert quoted("id-7") == "'id-7'"
    assert "\x1b" not in some(["\x1b[2J\x07\u202e"])
    assert some(["\x1b[2J"]) == r"\x1b[2J"
    assert len(some(["x" * 100_000, "y"])) < 100
    assert len(quoted(["x" * 100_000] * 100)) < 2000
    assert quoted(10**5000) == "a number of thousands of digits"
    assert "\n" not in quoted(__import__("numpy").zeros((40, 40)))
    quoted("\ud800").encode()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("first\nsecond"), "first"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "'utf-8' codec can't"),
        (OSError(36, "File name too long", "x" * 5000), "File name too long"),
        (KeyError(), "KeyError"),
        (ValueError("x" * 5000), "x" * 300),
    ],
)
def test_whatever_a_parser_raises_is_one_sentence(error, reason):
    with pytest.raises(BridoError) as caught, parsing("a.x is no X: {}".format):
        raise error
    assert str(caught.value).startswith(f"a.x is no X: {reason}")
    assert len(str(caught.value)) < 400
    with pytest.raises(BridoError, match="^mine$"), parsing("a.x is no X: {}".format):
        raise BridoError("mine")


def test_a_terminal_obeys_no_message():
    code = (
        "from brido.utils.errors import BridoError, run_command\n"
        "def main(): raise BridoError('a \\x1b[2J b\\n\\tc \\ud800')\n"
        "run_command(main)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: a \\x1b[2J b\n\tc \\ud800\n"
