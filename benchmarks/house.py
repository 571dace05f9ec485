"""What every room weighs, beside what it may weigh: `python -m benchmarks.house`.

Lines of Python (for documents, of Markdown), blank ones and comments included. A room that weighs
a tenth more than its aim has its reason in docs/architecture.md, "What a room weighs"; a test
checks that.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"
SLACK = 1.1


class RoomWeight(NamedTuple):
    """A part of the project: its name, the files that count, the lines that it aims at."""

    name: str
    patterns: tuple[str, ...]
    aim: int
    without: tuple[str, ...] = ()


GEVAL, QAFACTEVAL = "brido/evaluation/geval/", "brido/evaluation/qafacteval/"
REST = ("settings/", "cli/", "tables/", "utils/", "__init__.py", "__main__.py", "stats.py")
PARTS = (
    *(
        RoomWeight(name, (f"brido/{name}/",), aim)
        for name, aim in (
            ("vote", 1100),
            ("rouge", 2015),
            ("search", 1250),
            ("likelihood", 379),
            ("models", 2600),
            ("candidates", 950),
            ("training", 1900),
            ("checkers", 450),
            ("endpoint", 700),
            ("summarizer", 700),
        )
    ),
    RoomWeight("evaluation/geval", (GEVAL,), 900),
    RoomWeight("evaluation/qafacteval", (QAFACTEVAL,), 1500),
    RoomWeight("evaluation, the rest", ("brido/evaluation/",), 800, (GEVAL, QAFACTEVAL)),
    RoomWeight("report", ("brido/report/",), 1700),
    RoomWeight("corpus and world", ("brido/corpus/", "brido/world/"), 1250),
    RoomWeight("work", ("brido/work/",), 550),
    RoomWeight("settings, cli, tables, utils, top", tuple(f"brido/{name}" for name in REST), 3200),
    RoomWeight("library", ("brido/",), 20_500),
    RoomWeight("experiments", ("experiments/",), 1800),
    RoomWeight("benchmarks", ("benchmarks/",), 1500),
    RoomWeight("tests", ("tests/",), 18_000),
    RoomWeight("Markdown", (), 2000),
)


def weights() -> dict[str, int]:
    """The lines of every part."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    lines = {
        name: len((ROOT / name).read_text("utf-8").splitlines())
        for name in listed
        if (ROOT / name).is_file()
    }
    return {
        part.name: sum(count for name, count in lines.items() if _is_part(name, part))
        for part in PARTS
    }


def _is_part(name: str, part: RoomWeight) -> bool:
    if not part.patterns:
        return name.endswith(".md")
    inside = name.startswith(part.patterns) and not name.startswith(part.without or "-")
    return inside and name.endswith(".py")


def reasons() -> dict[str, str]:
    """Why a part weighs more than its aim, from docs/architecture.md."""
    text = ARCHITECTURE.read_text("utf-8")
    section = text.partition("## What a room weighs")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    return {name.strip(): reason.strip() for name, reason in rows[1:]}


def main() -> None:
    """Print the table."""
    table = Table("part", "lines", "aim", "why more")
    known = reasons()
    for part, lines in zip(PARTS, weights().values(), strict=True):
        heavy = lines > SLACK * part.aim
        table.add_row(part.name, f"{lines:,}", f"{part.aim:,}", known.get(part.name, "") * heavy)
    Console().print(table)


if __name__ == "__main__":
    main()
