"""Python as if only some packages were installed, and the doctests of a text.

`python alone.py` runs the doctests of a JSON object on stdin, texts by name, and fails where one
prints something else. Imports nothing that the wheel does not need.
"""

import doctest
import json
import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

MAKE = Path(__file__).parent


def hide(modules: Iterable[str]) -> None:
    """From here on these modules cannot be found, by an import or by who looks for them."""
    hidden = frozenset(modules)

    class Visible(PathFinder):
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            return None if name in hidden else super().find_spec(name, path, target)

    sys.meta_path = [Visible if finder is PathFinder else finder for finder in sys.meta_path]


def environment(folder: Path, hidden: Iterable[str], brido: Path | None = None) -> dict[str, str]:
    """The environment of a Python that cannot find these modules; its children neither.

    brido: the folder that has it; None: the checkout.
    """
    (folder / "sitecustomize.py").write_text(f"from alone import hide\nhide({sorted(hidden)})\n")
    paths = os.pathsep.join(map(str, (folder, brido or MAKE.parents[1], MAKE)))
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}


def failures(examples: dict[str, str]) -> str:
    """What is printed otherwise than the examples say; empty where nothing is."""
    said: list[str] = []
    for name, text in examples.items():
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
        doctest.DocTestRunner().run(test, out=said.append)
    return "".join(said)


if __name__ == "__main__":
    sys.exit(failures(json.load(sys.stdin)) or None)
