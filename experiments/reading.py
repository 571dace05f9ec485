"""Two systems' summaries read side by side by a reader who does not know which is whose.

`sheet` writes CHAIN/reading/sheet.jsonl, a line for each test document with the summaries `a` and
`b` in an order that is drawn for each; key.json has the order, the reader does not open it.
The reader writes marks.jsonl beside them, `{"number": 1, "a": 2, "b": 0}`: how many statements
of each the document does not support. `count` puts both together, over all given readings.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
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

# What was tuned, in the key; the other has its own name there.
TUNED = "tuned"
FOLDERS = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER..."
)


@click.group()
def command() -> None:
    """Read two systems' summaries side by side without knowing whose they are."""


@command.command()
@FOLDERS
@click.option("--system", default=TUNED, show_default=True, help="the tuned system")
@click.option("--against", default="base", show_default=True, help="the other system")
@click.option("--decoding", default=BEAMS, show_default=True)
@click.option("--equal-length", is_flag=True, help="the tuned system's beams at base's length")
@click.option("--documents", default=100, show_default=True, help="the first of the test split")
@click.option("--seed", default=0, show_default=True)
def sheet(
    folders: tuple[Path, ...], system: str, against: str, decoding: str, equal_length: bool,
    documents: int, seed: int,
) -> None:  # fmt: skip
    """Write FOLDER/reading/sheet.jsonl of the folders of chains in .brido/studies."""
    if against in (TUNED, system):
        raise BridoError(f"--against {against}: name another system than the tuned one")
    tuned = AT_BASE_LENGTH if equal_length else decoding
    first = decoding if against == "base" else tuned
    for chain in folders:
        write_sheet(chain, ((against, first), (system, tuned)), documents, seed)


@command.command("count")
@FOLDERS
def count_marks(folders: tuple[Path, ...]) -> None:
    """Print what the marks in FOLDER/marks.jsonl say."""
    click.echo(count(folders))


def write_sheet(chain: Path, rows: Sequence[tuple[str, str]], documents: int, seed: int) -> None:
    """Write sheet.jsonl and key.json of the first so many test documents.

    rows: the other's (base's, say) and the tuned model's; system and decoding as in rows.csv.
    """
    corpus = read_rows(chain / "data/corpus/test.parquet", CORPUS, "download")[:documents]
    written = [_read(chain / texts_of((*row, "test"))) for row in rows]
    names = (rows[0][0], TUNED)
    turned = np.random.default_rng(seed).random(len(corpus)) < 0.5
    lines, key = [], {}
    for number, (row, turn) in enumerate(zip(corpus, turned, strict=True), 1):
        order = names[::-1] if turn else names
        both = {name: texts[number - 1] for name, texts in zip(names, written, strict=True)}
        shown = {"a": both[order[0]], "b": both[order[1]]}
        line = {"number": number, "document": row["document"], **shown}
        lines.append(json.dumps(line, ensure_ascii=False))
        key[number] = order
    write_text(chain / "reading/sheet.jsonl", "\n".join(lines) + "\n")
    write_text(chain / "reading/key.json", json.dumps(key))


def count(folders: Sequence[Path]) -> str:
    """What the marks of readings say: each system's summaries with something unsupported, their
    difference in points, and the same of statements a summary, with 95 % bootstrap intervals over
    readings and documents.

    Raises:
        BridoError: a mark is missing, stands twice or is not a count; the readings compare
            different systems.
    """
    found = [_counts(folder) for folder in folders]
    other, *more = sorted({name for one in found for name in one if name != TUNED})
    if more:
        beside = " and beside ".join([other, *more])
        raise BridoError(f"these readings show {TUNED} beside {beside}: count them apart")
    counts = {name: [one[name] for one in found] for name in (other, TUNED)}
    flags = {name: [(one > 0).astype(float) for one in own] for name, own in counts.items()}
    sizes = " and ".join(f"{size}" for size in sorted({*map(len, counts[TUNED])}))
    begin = f"{sizes} documents, one reader"
    if len(found) > 1:
        begin = f"{len(found)} readings of {sizes} documents, one reader each"
    lines = [f"{begin}, blind to the system"]
    for name in counts:
        mean, low, high = (100 * value for value in interval(flags[name]))
        said = np.mean([one.mean() for one in counts[name]])
        lines.append(
            f"{name}: {mean:.1f} % [{low:.1f}, {high:.1f}] of the summaries say something "
            f"unsupported; {said:.2f} statements a summary"
        )
    lines.append(f"tuned - {other}: {points(_gaps(flags))} points")
    mean, low, high = interval(_gaps(counts))
    lines.append(f"statements, tuned - {other}: {mean:+.2f} [{low:+.2f}, {high:+.2f}] a summary")
    return "\n".join(lines)


def _gaps(of: Mapping[str, Sequence[NDArray[np.float64]]]) -> list[NDArray[np.float64]]:
    other, tuned = of.values()
    return [after - before for before, after in zip(other, tuned, strict=True)]


def _counts(folder: Path) -> dict[str, NDArray[np.float64]]:
    """Each system's unsupported statements, a number a document."""
    key = _read(folder / "key.json")
    marks = read_records(folder / "marks.jsonl")
    found = {str(row.get("number")): row for row in marks}
    if found.keys() != key.keys() or len(marks) != len(key):
        raise BridoError(f"{folder}/marks.jsonl must mark each of the {len(key)} documents once")
    wrong = [number for number, row in found.items() if not _is_marked(row)]
    if wrong:
        raise BridoError(f"{folder}/marks.jsonl: `a` and `b` must be counts: {', '.join(wrong)}")
    return {
        name: np.array(
            [found[number]["ab"[order.index(name)]] for number, order in key.items()], float
        )
        for name in next(iter(key.values()))
    }


def _read(path: Path) -> Any:
    with parsing(
        lambda reason: (
            f"{path}: {reason}; sheet takes the folder of a chain that was run, count its reading/"
        )
    ):
        return json.loads(path.read_text(encoding="utf-8"))


def _is_marked(row: dict) -> bool:
    return all(type(row.get(side)) is int and row[side] >= 0 for side in "ab")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.reading"))
