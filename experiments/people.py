"""Does the vote order real systems' summaries of news as people do?

python -m experiments.people summeval_abstractive.jsonl xsum_maynez.jsonl

A file has lines of {doc_id, summary, reference} with one of the marks of SETS. Nothing is trained.
metrics/evidence/people.csv gets a row a document: its pairs of summaries that people's marks tell
apart, and of these the pairs that each order puts as people do (half a pair if it finds both
equal).
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd

from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Combination
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.utils.files import read_records
from brido.utils.text import one_sentence_a_line
from brido.vote import consensus_scores
from experiments.numbers import clear, interval
from experiments.rows import EVIDENCE
from experiments.tables import Record

PEOPLE = EVIDENCE / "people.csv"
ORDERS = ("vote", "vote and reference", "reference", "shortest", "order of systems")


class Marked(NamedTuple):
    """Whose summaries people marked, and the similarity of the paper for such texts.

    similar: how many systems are left without the worst ones, that people tell apart at a glance.
    """

    name: str
    combination: Combination
    similar: int | None = None


# By the field of people's mark: the mean of experts' marks for consistency (Fabbri et al., 2021),
# the share of words outside of spans that people marked as hallucinated (Maynez et al., 2020).
SETS = {
    "expert_consistency": Marked("CNN/DM, 12 systems (SummEval)", "mean_r1_r2_rlsum", 10),
    "faithful_word": Marked("XSum, 4 systems (Maynez et al.)", "harmonic_r1_r2"),
}


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def command(paths: tuple[Path, ...]) -> None:
    """Count the pairs of summaries that the vote and its rivals order as people do."""
    rows = pd.DataFrame([row for path in paths for row in measured(path)])
    write_text(PEOPLE, rows.to_csv(index=False))


def measured(path: Path) -> Iterator[dict[str, Any]]:
    """A row for each document of a file of marked summaries; references are not candidates.

    The order of systems is that of their mean marks in the other documents.
    """
    records = pd.DataFrame([row for row in read_records(path) if not row.get("is_reference")])
    mark = next((name for name in SETS if name in records), None)
    if mark is None:
        raise BridoError(f"{path}: its first line has none of the marks {', '.join(SETS)}")
    own = SETS[mark]
    yield from _rows(records, mark, own, own.name)
    if own.similar:
        means = records.groupby("system")[mark].mean().sort_values()
        among = records[records.system.isin(means.index[-own.similar :])]
        yield from _rows(among, mark, own, f"{own.name}, the {own.similar} similar ones")


def _rows(records: pd.DataFrame, mark: str, own: Marked, name: str) -> Iterator[dict[str, Any]]:
    sums, counts = (records.groupby("system")[mark].agg(kind) for kind in ("sum", "count"))
    for document, rows in records.groupby("doc_id", sort=False):
        scores = scored(list(rows.summary), rows.reference.iloc[0], own)
        marks = rows[mark].to_numpy(float)
        others = sums[rows.system].to_numpy() - marks
        scores["order of systems"] = others / (counts[rows.system].to_numpy() - 1)
        pairs = [(i, j) for i, j in combinations(range(len(rows)), 2) if marks[i] != marks[j]]
        yield {"set": name, "document": document, "pairs": len(pairs)} | {
            order: sum(_right(one, marks, *pair) for pair in pairs) for order, one in scores.items()
        }


def scored(summaries: Sequence[str], reference: str, marked: Marked) -> dict[str, np.ndarray]:
    """Each order's scores of a document's summaries [N]; the higher one is said to be better."""
    texts = [reference, *summaries]
    if marked.combination == "mean_r1_r2_rlsum":
        texts = [one_sentence_a_line(text) for text in texts]
    similarity = similarity_matrix(texts[1:], texts[0], marked.combination)
    alphas = {"vote": 0.0, "vote and reference": len(summaries) - 1.0, "reference": math.inf}
    found = {name: consensus_scores(similarity, alpha) for name, alpha in alphas.items()}
    return found | {"shortest": -np.array([len(text.split()) for text in summaries], float)}


def _right(scores: np.ndarray, marks: np.ndarray, one: int, other: int) -> float:
    agreed = (scores[one] - scores[other]) * (marks[one] - marks[other])
    return 0.5 if agreed == 0 else float(agreed > 0)


def people() -> Iterator[Record]:
    """The share of a document's pairs that each order puts as people do, in per cent."""
    rows = pd.read_csv(PEOPLE)
    for name, own in rows[rows.pairs > 0].groupby("set", sort=False):
        shares = {order: (own[order] / own.pairs).to_numpy() for order in ORDERS}
        record = {"summaries": str(name), "documents": f"{len(own)}", "pairs": f"{own.pairs.sum()}"}
        for order in ORDERS:
            mean, low, high = (100 * value for value in interval([shares[order]]))
            record[order] = f"{mean:.1f} [{low:.1f}, {high:.1f}]"
        for rival in ("reference", "shortest", "order of systems"):
            record[f"vote - {rival}"] = clear([shares["vote"] - shares[rival]])
        yield record


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.people"))
