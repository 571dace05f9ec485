"""Two systems' summaries read side by side by a reader who does not know which is whose.

    python -m experiments.evidence.reading sheet CHAIN --decoding beams
    python -m experiments.evidence.reading count CHAIN/reading [MORE ...]

CHAIN is a chain's folder in .brido/evidence. `sheet` writes CHAIN/reading/sheet.jsonl, a test
document a line with the summaries `a` and `b` of base and tuned in an order that is drawn for each,
and the order in key.json, which the reader leaves alone. --system names what was tuned where a plan
has several, --against another one in base's place; with --equal-length what was tuned is shown as
its beams write at base's length.
The reader writes marks.jsonl beside them, `{"number": 1, "a": 2, "b": 0}`: how many statements of
each the document does not support. `count` puts both together, over all readings that it is given.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.tables import CORPUS, read_rows
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing, run_command
from brido.utils.files import read_records
from experiments.evidence.chain import AT_BASE_LENGTH, BEAMS, texts_of
from experiments.study.table import interval, points

# What was tuned, in the key; the other goes by its own name there.
TUNED = "tuned"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheet, or count the marks."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.evidence.reading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("sheet", "count"))
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--system", default="tuned")
    parser.add_argument("--against", default="base")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--decoding", default=BEAMS)
    ways.add_argument("--equal-length", action="store_true")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.what == "sheet":
        if options.against in (TUNED, options.system):
            raise BridoError(
                f"--against {options.against}: name another system than what was tuned"
            )
        tuned = AT_BASE_LENGTH if options.equal_length else options.decoding
        first = options.decoding if options.against == "base" else tuned
        rows = ((options.against, first), (options.system, tuned))
        for chain in options.folders:
            write_sheet(chain, rows, options.documents, options.seed)
    else:
        print(count(options.folders))


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
        BridoError: a mark is missing, stands twice or is no number of statements; the readings
            are not of the same two.
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
    run_command(main)
