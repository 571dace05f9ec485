"""Summaries of several systems read side by side by readers who do not know which is whose.

`sheet` writes CHAIN/reading/sheet.jsonl, a line for each test document with a summary of each
system as `a`, `b`, ... in an order that is drawn for each. key.json has the order; readers do not
open it. A reader writes marks.jsonl beside them, `{"number": 1, "a": 2, "b": 0}`: how many
statements of each the document does not support. `count` puts both together.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from brido.tables import CORPUS, read_rows
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, parsing, run_command
from brido.utils.files import read_records
from experiments.numbers import interval, points
from experiments.plan import AT_BASE_LENGTH, BEAMS, texts_of

# The system that the others are compared with, where a reading has it.
TUNED = "tuned"
DOCUMENTS = 100
# Unsupported statements of each system, a number a document.
Counts = dict[str, NDArray[np.float64]]
FOLDERS = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER..."
)


@click.group()
def command() -> None:
    """Read systems' summaries side by side without knowing whose they are."""


@command.command()
@FOLDERS
@click.option("--system", "systems", multiple=True, help="once for each (default: base, tuned)")
@click.option("--equal-length", is_flag=True, help="beams at base's length, of all but base")
def sheet(folders: tuple[Path, ...], systems: tuple[str, ...], equal_length: bool) -> None:
    """Write FOLDER/reading/sheet.jsonl of the folders of chains in .brido/studies."""
    systems = systems or ("base", TUNED)
    if len(set(systems)) != len(systems) or len(systems) < 2:
        raise BridoError("--system: name two different systems or more")
    tuned = AT_BASE_LENGTH if equal_length else BEAMS
    rows = {name: BEAMS if name == "base" else tuned for name in systems}
    for chain in folders:
        write_sheet(chain, rows)


@command.command("count")
@FOLDERS
def count_marks(folders: tuple[Path, ...]) -> None:
    """Print what the marks in FOLDER/marks.jsonl say."""
    click.echo(count(folders))


def write_sheet(chain: Path, rows: Mapping[str, str]) -> None:
    """Write sheet.jsonl and key.json of the first 100 test documents.

    rows: the decoding of each system, as in rows.csv.
    """
    corpus = read_rows(chain / "data/corpus/test.parquet", CORPUS, "download")[:DOCUMENTS]
    texts = {name: _read(chain / texts_of((name, way, "test"))) for name, way in rows.items()}
    rng, lines, key = np.random.default_rng(0), [], {}
    for place, row in enumerate(corpus):
        order = rng.permutation(list(rows)).tolist()
        letters = ascii_lowercase[: len(order)]
        shown = {a: texts[name][place] for a, name in zip(letters, order, strict=True)}
        line = {"number": place + 1, "document": row["document"], **shown}
        lines.append(json.dumps(line, ensure_ascii=False))
        key[place + 1] = order
    write_text(chain / "reading/sheet.jsonl", "\n".join(lines) + "\n")
    write_text(chain / "reading/key.json", json.dumps(key))


def count(folders: Sequence[Path]) -> str:
    """What the marks of readings say, with 95 % bootstrap intervals over readings and documents.

    Each system's summaries with something unsupported, their difference in points, and the same of
    statements a summary.

    Raises:
        BridoError: a mark is missing, stands twice or is not a count; the readings compare
            different systems.
    """
    found = [_counts(folder / "marks.jsonl", _read(folder / "key.json")) for folder in folders]
    if len({frozenset(one) for one in found}) > 1:
        shown = "; ".join(sorted({", ".join(sorted(one)) for one in found}))
        raise BridoError(f"these readings show different systems ({shown}): count them apart")
    names = sorted(found[0], key=lambda name: (name == TUNED, name))
    counts = {name: [one[name] for one in found] for name in names}
    flags = {name: [(one > 0).astype(float) for one in own] for name, own in counts.items()}
    sizes = " and ".join(f"{size}" for size in sorted({*map(len, counts[names[0]])}))
    many = f"{len(found)} readings of " * (len(found) > 1)
    each = " each" * (len(found) > 1)
    lines = [f"{many}{sizes} documents, one reader{each}, blind to the system"]
    for name in names:
        mean, low, high = (100 * value for value in interval(flags[name]))
        said = np.mean([one.mean() for one in counts[name]])
        lines.append(
            f"{name}: {mean:.1f} % [{low:.1f}, {high:.1f}] of the summaries say something "
            f"unsupported; {said:.2f} statements a summary"
        )
    last = names[-1]
    for other in names[:-1]:
        lines.append(f"{last} - {other}: {points(_gaps(flags, last, other))} points")
        mean, low, high = interval(_gaps(counts, last, other))
        between = f"{mean:+.2f} [{low:+.2f}, {high:+.2f}] a summary"
        lines.append(f"statements, {last} - {other}: {between}")
    return "\n".join(lines)


def _gaps(of: Mapping[str, Sequence[NDArray[np.float64]]], last: str, other: str) -> list:
    return [after - before for after, before in zip(of[last], of[other], strict=True)]


def _counts(path: Path, key: Mapping[str, Sequence[str]]) -> Counts:
    """Each system's unsupported statements, a number a document."""
    marks, names = read_records(path), next(iter(key.values()))
    found = {str(row.get("number")): row for row in marks}
    if found.keys() != key.keys() or len(marks) != len(key):
        raise BridoError(f"{path} must mark each of the {len(key)} documents once")
    letters = ascii_lowercase[: len(names)]
    wrong = [number for number, row in found.items() if not _is_marked(row, letters)]
    if wrong:
        raise BridoError(f"{path}: {', '.join(letters)} must be counts: {', '.join(wrong)}")
    return {
        name: np.array(
            [found[number][letters[order.index(name)]] for number, order in key.items()], float
        )
        for name in names
    }


def _read(path: Path) -> Any:
    with parsing(
        lambda reason: (
            f"{path}: {reason}; sheet takes the folder of a chain that was run, count its reading/"
        )
    ):
        return json.loads(path.read_text(encoding="utf-8"))


def _is_marked(row: Mapping[str, Any], letters: str) -> bool:
    return all(type(row.get(side)) is int and row[side] >= 0 for side in letters)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.reading"))
