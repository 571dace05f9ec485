"""The examples of the engines in README and docs/engines.md, and commands run as they show them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"```(?P<kind>python|console)\n(?P<source>.*?)```(?:\n\n```text\n(?P<output>.*?)```)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    """A block: doctests, or a command with what it prints; `extra` is what it needs, if any."""

    name: str
    extra: str
    kind: str
    source: str
    output: str | None


def examples() -> list[Example]:
    """Every Python block, and every command whose output is shown."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme[readme.index("## One part only") : readme.index("## Where things are")]
    texts = {"README": part, "engines": (ROOT / "docs/engines.md").read_text(encoding="utf-8")}
    found = []
    for page, text in texts.items():
        for number, block in enumerate(_BLOCK.finditer(text), 1):
            kind, output = block["kind"], block["output"]
            if kind == "python" or output is not None:
                extra = _extra(text[: block.start()])
                found.append(Example(f"{page}-{number}", extra, kind, block["source"], output))
    return found


def _extra(before: str) -> str:
    """The extra that the heading above a block names, or the paragraph before it."""
    heading = [line for line in before.splitlines() if line.startswith("## ")][-1]
    places = [heading] if "pip install" in heading else [before.strip().split("\n\n")[-1]]
    named = re.findall(r'"\.\[(\w+)]"', places[0])
    return named[0] if named else ""


def put_on_path(folder: Path, *command: str) -> dict[str, str]:
    """An environment in which `brido` runs this command, with examples/ in `folder`."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    script = folder / "bin" / "brido"
    words = " ".join(f"'{word}'" for word in command or (sys.executable, "-m", "brido"))
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def check_command(example: Example, folder: Path, environment: dict[str, str]) -> None:
    """Run a command and compare; where lines are broken does not matter."""
    done = subprocess.run(
        ["bash", "-c", example.source],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _words(done.stdout) == _words(str(example.output))


def _words(text: str) -> Sequence[str]:
    return text.split()
