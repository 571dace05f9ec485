"""The figures of docs/security.md are those of the tests that it names."""

import re
from pathlib import Path

import test_kills
from bad_endpoint import TROUBLES
from endpoint.test_trouble import NO_COUNTS, NO_WAITS
from models.test_rendering import HOSTILE
from server_responses import RESPONSES
from utils.test_outputs import COMMANDS

from brido.endpoint.call import LONGEST_RESPONSE
from brido.models import rendering

PAGE = " ".join((Path(__file__).parents[1] / "docs/security.md").read_text().split())
FIGURES = {
    r"(\d+) hostile chat templates": len(HOSTILE),
    r"server with (\d+) kinds of faults": len(TROUBLES),
    r"(\d+) kinds of wrong token counts": len(NO_COUNTS),
    r"(\d+) kinds of Retry-After": len(NO_WAITS),
    r"(\d+) answers and errors of real servers": len(RESPONSES),
    r"(\w+) commands told to write onto their input": {5: "five"}[len(COMMANDS)],
    r"at least (\d+) kills of the small pipeline": test_kills.LEAST_KILLS,
    r"(\d+) of a chain of DVC's stages": test_kills.LOCK_KILLS,
    r"up to (\d+) MiB, uncompressed": LONGEST_RESPONSE // 2**20,
    r"has (\d+) seconds of a processor": rendering.SECONDS,
    r"(\d+) GiB of memory": rendering.BYTES // 2**30,
    r"2\^(\d+) characters": rendering.CHARACTERS.bit_length() - 1,
}


def test_every_figure_is_that_of_its_tests():
    written = {pattern: re.findall(pattern, PAGE)[0] for pattern in FIGURES}
    assert written == {pattern: str(count) for pattern, count in FIGURES.items()}


def test_every_file_that_the_page_names_exists():
    names = re.findall(r"`((?:tests|brido)/[\w/.]+)`", PAGE)
    assert len(names) > 5
    assert [name for name in names if not (Path(__file__).parents[1] / name).exists()] == []
