"""Summaries of several systems read side by side by readers who do not know which is whose.

`sheet` writes RUN/reading/sheet.jsonl, a line for each test document with a summary of each
system as `a`, `b`, ... in an order that is drawn for each, and rubric.md, what readers are told.
key.json has the order; readers do not open it. A reader writes marks.jsonl beside them (a second
one marks-2.jsonl), `{"number": 1, "a": 2, "b": 0}`: how many statements of each the document does
not support. Two numbers, `"a": [1, 2]`, count apart what the document contradicts and what it does
not mention. `count` puts all together, and compares the readers with metric mentions where the run
measured it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import click
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from brido.evaluation.extractiveness import measure
from brido.tables import CORPUS, DECODED, read_rows
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, parsing, run_command
from brido.utils.files import read_records
from experiments.agreement import Counts, against_rules, agreement, unsupported
from experiments.numbers import interval, points

# The system that the others are compared with, where a reading has it.
TUNED = "tuned"
KINDS = ("contradicted", "not mentioned")
# Words a summary, and the share of its runs of three words that stand in the document.
MEASURES = "measures.json"
# What metric mentions says of each summary of a system, by kind.
RULES = "rules.json"
RULED = {
    "nothing unsupported": lambda row: row["mentions.unsupported"] == 0,
    "good": lambda row: row["mentions.good"] == 1,
}
# What readers are told.
RUBRIC = Path(__file__).with_name("rubric.md")
FOLDERS = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER..."
)


@click.group()
def command() -> None:
    """Read systems' summaries side by side without knowing whose they are."""


@command.command()
@FOLDERS
@click.option("--system", "systems", multiple=True, help="once for each (default: base, vote)")
@click.option("--documents", default=100, show_default=True, help="the first of the test split")
@click.option("--seed", default=0, show_default=True)
def sheet(folders: tuple[Path, ...], systems: tuple[str, ...], documents: int, seed: int) -> None:
    """Write FOLDER/reading/sheet.jsonl of finished runs: build/studies/PLAN/RUN."""
    systems = systems or ("base", "vote")
    if len(set(systems)) != len(systems) or len(systems) < 2:
        raise BridoError("--system: name two different systems or more")
    for run in folders:
        write_sheet(run, systems, documents, seed)


@command.command("count")
@FOLDERS
@click.option("--system", help="the one that the others are compared with (default: tuned)")
def count_marks(folders: tuple[Path, ...], system: str | None) -> None:
    """Print what the marks in FOLDER/marks*.jsonl say."""
    click.echo(count(folders, system))


def write_sheet(run: Path, systems: Sequence[str], documents: int, seed: int) -> None:
    """Write a sheet of the first so many test documents, its key, rubric and measures."""
    corpus = read_rows(run / "data/corpus/test.parquet", CORPUS, "download")[:documents]
    texts = {name: _texts(run, name) for name in systems}
    rng, lines, key = np.random.default_rng(seed), [], {}
    for place, row in enumerate(corpus):
        order = rng.permutation(list(systems)).tolist()
        letters = ascii_lowercase[: len(order)]
        shown = {a: texts[name][place] for a, name in zip(letters, order, strict=True)}
        line = {"number": place + 1, "document": row["document"], **shown}
        lines.append(json.dumps(line, ensure_ascii=False))
        key[place + 1] = order
    sources = [row["document"] for row in corpus]
    found = {name: _measures(sources, own[: len(corpus)]) for name, own in texts.items()}
    write_text(run / "reading/sheet.jsonl", "\n".join(lines) + "\n")
    write_text(run / "reading/key.json", json.dumps(key))
    write_text(run / "reading" / RUBRIC.name, RUBRIC.read_text(encoding="utf-8"))
    write_text(run / "reading" / MEASURES, json.dumps(found))
    rules = {name: _rules(run, name, len(corpus)) for name in systems}
    if all(rules.values()):
        write_text(run / "reading" / RULES, json.dumps(rules))


def _rules(run: Path, system: str, documents: int) -> dict[str, list[bool]] | None:
    """What metric mentions found in the first so many summaries of a system; None: not measured."""
    path = run / "data/evaluation" / system / "test.parquet"
    if not path.is_file():
        return None
    rows = pq.read_table(path).to_pylist()[:documents]
    return {kind: [bool(holds(row)) for row in rows] for kind, holds in RULED.items()}


def _measures(documents: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """Mean words of summaries, and the share of their runs of three words that are copied."""
    rows = [measure(*both, n=3) for both in zip(documents, texts, strict=True)]
    novel = [row["novel_ngrams"] for row in rows if row["novel_ngrams"] is not None]
    words = np.mean([row["length"] for row in rows])
    return {"words": float(words), "copied": float(1 - np.mean(novel)) if novel else 0.0}


def count(folders: Sequence[Path], system: str | None = None) -> str:
    """What the marks of readings say, with 95 % bootstrap intervals over folders and documents.

    Each system's summaries with something unsupported, its difference from `system` in points, the
    same of statements a summary, and how far the readers of a folder agree. Several readers of a
    folder count as their mean.

    Raises:
        BridoError: a mark is missing, stands twice or is not a count; the readings compare
            different systems, or not `system`.
    """
    readers = [_readers(folder) for folder in folders]
    found = [one for own in readers for one in own]
    if len({frozenset(one) for one in found}) > 1:
        shown = "; ".join(sorted({", ".join(sorted(one)) for one in found}))
        raise BridoError(f"these readings show different systems ({shown}): count them apart")
    last = system or (TUNED if TUNED in found[0] else max(found[0]))
    if last not in found[0]:
        raise BridoError(f"--system {last}: these readings show {', '.join(sorted(found[0]))}")
    others = sorted(found[0].keys() - {last})
    counts = {name: [[one[name] for one in own] for own in readers] for name in [*others, last]}
    flags, statements = _means(counts, unsupported), _means(counts, _statements)
    parts = {"statements": statements}
    if all(one[last].shape[1] == len(KINDS) for one in found):
        for place, kind in enumerate(KINDS):
            parts[kind] = _means(counts, lambda one, place=place: one[:, place])
    lines = [_head(readers, len(flags[last][0]))]
    measures = _mean_measures(folders)
    for name in counts:
        mean, low, high = (100 * value for value in interval(flags[name]))
        said = np.mean([one.mean() for one in parts["statements"][name]])
        lines.append(
            f"{name}: {mean:.1f} % [{low:.1f}, {high:.1f}] of the summaries say something "
            f"unsupported; {said:.2f} statements a summary"
        )
        if measures:
            words, copied = measures[name]
            lines[-1] += f", {100 * said / words:.1f} in 100 words; {words:.1f} words, "
            lines[-1] += f"{100 * copied:.0f} % copied"
    for other in others:
        lines.append(f"{last} - {other}: {points(_gaps(flags, last, other))} points")
        for kind, values in parts.items():
            mean, low, high = interval(_gaps(values, last, other))
            between = f"{mean:+.2f} [{low:+.2f}, {high:+.2f}] a summary"
            lines.append(f"{kind}, {last} - {other}: {between}")
    lines += agreement(readers)
    paths = [folder / RULES for folder in folders]
    if all(path.is_file() for path in paths):
        lines += against_rules([_read(path) for path in paths], readers)
    return "\n".join(lines)


def read(folder: Path) -> dict[str, tuple[NDArray[np.float64], float, dict[str, float]]]:
    """What readers found in each system: a document's share of readers who count something [D].

    And the mean of statements a summary, and the measures of `sheet`.
    """
    readers = _readers(folder)
    counts = {name: [[one[name] for one in readers]] for name in readers[0]}
    flags, statements = _means(counts, unsupported), _means(counts, _statements)
    measures = _read(folder / MEASURES)
    return {
        name: (flags[name][0], float(statements[name][0].mean()), measures[name]) for name in counts
    }


def _statements(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts.sum(1)


def _means(
    counts: Mapping[str, Sequence[Sequence[Any]]], value: Callable[[Any], Any]
) -> dict[str, list[NDArray[np.float64]]]:
    """Of each document a value of its counts, the mean over readers: [D] a system and folder."""
    return {
        name: [np.mean([value(one) for one in own], axis=0) for own in folders]
        for name, folders in counts.items()
    }


def _head(readers: Sequence[Sequence[Counts]], documents: int) -> str:
    many = sorted({len(own) for own in readers})
    each = " or ".join(f"{number}" for number in many) + " reader" + "s" * (many != [1])
    sheets = f"{len(readers)} sheets of " * (len(readers) > 1)
    return f"{sheets}{documents} documents, {each}, blind to the system"


def _mean_measures(folders: Sequence[Path]) -> dict[str, tuple[float, float]]:
    """Mean words and copied share of each system, where every folder has them."""
    paths = [folder / MEASURES for folder in folders]
    if not all(path.is_file() for path in paths):
        return {}
    found = [_read(path) for path in paths]
    means = {
        name: [np.mean([one[name][key] for one in found]) for key in ("words", "copied")]
        for name in found[0]
    }
    return {name: (float(words), float(copied)) for name, (words, copied) in means.items()}


def _gaps(of: Mapping[str, Sequence[NDArray[np.float64]]], last: str, other: str) -> list:
    return [after - before for after, before in zip(of[last], of[other], strict=True)]


def _readers(folder: Path) -> list[Counts]:
    """What each reader of a folder counted."""
    key = _read(folder / "key.json")
    files = sorted(folder.glob("marks*.jsonl")) or [folder / "marks.jsonl"]
    return [_counts(path, key) for path in files]


def _counts(path: Path, key: Mapping[str, Sequence[str]]) -> Counts:
    """Each system's unsupported statements, a row a document."""
    marks, names = read_records(path), next(iter(key.values()))
    found = {str(row.get("number")): row for row in marks}
    if found.keys() != key.keys() or len(marks) != len(key):
        raise BridoError(f"{path} must mark each of the {len(key)} documents once")
    letters = ascii_lowercase[: len(names)]
    shown = {
        number: [_numbers(row.get(letter)) for letter in letters] for number, row in found.items()
    }
    size = max(len(one) for row in shown.values() for one in row)
    wrong = [number for number, row in shown.items() if any(len(one) != size for one in row)]
    if wrong or size == 0:
        raise BridoError(
            f"{path}: {', '.join(letters)} must be counts, or all of them [contradicted, not "
            f"mentioned]: {', '.join(wrong or shown)}"
        )
    return {
        name: np.array([shown[number][order.index(name)] for number, order in key.items()], float)
        for name in names
    }


def _numbers(mark: Any) -> list[int]:
    """The count or the two counts of a mark; none if it is something else."""
    found = mark if isinstance(mark, list) else [mark]
    counts = all(type(one) is int and one >= 0 for one in found)
    return found if counts and len(found) in (1, len(KINDS)) else []


def _texts(run: Path, system: str) -> list[str]:
    rows = read_rows(run / "data/decoded" / system / "test.parquet", DECODED, "decode")
    return [row["summary"] for row in rows]


def _read(path: Path) -> Any:
    with parsing(
        lambda reason: (
            f"{path}: {reason}; sheet takes the folder of a finished run, count its reading/"
        )
    ):
        return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.reading"))
