"""Agreement of every vote with human labels: which vote to trust.

    python -m benchmarks.votes PATH

PATH is a folder (or file) of JSON lines, a row for each system's summary of a document: `doc_id`,
`summary`, `reference`, a label (`expert_consistency` or `faithful_word`, more is better). Rows with
`is_reference` are left out. For each vote the systems of a document are ordered by Eq. 2, and
every pair of systems with different labels asks whether the vote orders it as the label does (a
tie of the vote is half right); the same for the pairs whose lengths in words differ by at most
15 % of the longer one. Intervals are over documents (bootstrap, 2,000 samples).

These sets hold no articles, so a score with `scoring.support` cannot be measured on them.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from brido.rouge import similarity_matrix
from brido.utils.text import one_sentence_a_line
from brido.vote.check import Share, accuracies, comparable_pairs, pair_counts
from brido.vote.consensus import consensus_scores
from brido.vote.similarity import sentence_votes

LABELS = ("expert_consistency", "faithful_word")
VALUES = ("fmeasure", "precision", "recall", "mean_f_precision")
ALPHAS = ("0", "1", "N-1", "inf")
LONG_REFERENCE = 32  # words; longer references on average: CNN/DM's combination, else XSum's
SAMPLES = 2000
TOLERANCES = {"all pairs": 1.0, "equal length": 0.15}
Group = list[dict]


def read_sets(path: Path) -> dict[str, list[Group]]:
    """Documents by file: each the rows of its systems, of which all documents have as many."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    sets = {}
    for file in files:
        groups: dict[str, Group] = defaultdict(list)
        for line in file.read_text().splitlines():
            row = json.loads(line)
            if not row.get("is_reference"):
                groups[row["doc_id"]].append(row)
        sets[file.stem] = list(groups.values())
    return sets


def combination_of(groups: list[Group]) -> str:
    """The combination of the paper for texts of this shape."""
    words = statistics.mean(len(group[0]["reference"].split()) for group in groups)
    return "mean_r1_r2_rlsum" if words > LONG_REFERENCE else "harmonic_r1_r2"


def similarities(groups: list[Group], value: str, implementation: str) -> np.ndarray:
    """The similarity matrices of all documents' systems, [D, N, N + 1]."""
    combination = combination_of(groups)
    return np.stack(
        [
            similarity_matrix(
                [one_sentence_a_line(row["summary"]) for row in group],
                one_sentence_a_line(group[0]["reference"]),
                combination,
                value=value,
                implementation=implementation,
            )
            for group in groups
        ]
    )


def votes(groups: list[Group]) -> Iterator[tuple[str, np.ndarray]]:
    """A name and the scores [D, N] of every vote."""
    kinds = [*((value, "rouge_score") for value in VALUES), ("fmeasure", "pltrdy")]
    matrices = {
        f"{implementation} {value}": similarities(groups, value, implementation)
        for value, implementation in kinds
    }
    texts = [[row["summary"] for row in group] for group in groups]
    references = [group[0]["reference"] for group in groups]
    for value in ("fmeasure", "precision"):
        matrices[f"sentences, {value}"] = sentence_votes(
            texts, references, combination_of(groups), value=value
        )
    for name, matrix in matrices.items():
        for alpha in ALPHAS:
            weight = matrix.shape[1] - 1 if alpha == "N-1" else float(alpha)
            yield f"{name}, alpha {alpha}", consensus_scores(matrix, weight)
    words = np.array([[len(row["summary"].split()) for row in group] for group in groups])
    yield "the shorter", -words.astype(float)


def table(groups: list[Group], label: str) -> list[str]:
    """The lines of the Markdown table of one set."""
    unsupported = -np.array([[row[label] for row in group] for group in groups], float)
    words = np.array([[len(row["summary"].split()) for row in group] for group in groups])
    found = dict(votes(groups))
    columns = {}
    for name, tolerance in TOLERANCES.items():
        pairs = comparable_pairs(unsupported, words, tolerance)
        counts = np.stack([pair_counts(scores, pairs) for scores in found.values()])
        columns[name], _ = accuracies(counts, SAMPLES, 0.95, 0)
    heads = [f"{name} ({shares[0].count:,})" for name, shares in columns.items()]
    lines = [f"| vote | {' | '.join(heads)} |", "|---|---|---|"]
    for name, *shares in zip(found, *columns.values(), strict=True):
        lines.append(f"| {name} | {' | '.join(map(_text, shares))} |")
    return lines


def _text(share: Share) -> str:
    numbers = (f"{value:.3f}".lstrip("0") for value in (share.mean, share.low, share.high))
    return "{} ({}-{})".format(*numbers)


def main() -> None:
    """Print a Markdown table a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    for name, groups in read_sets(parser.parse_args().path).items():
        label = next(key for key in LABELS if key in groups[0][0])
        print(f"\n{name}: {label}, {combination_of(groups)}, {len(groups)} documents\n")
        print("\n".join(table(groups, label)), flush=True)


if __name__ == "__main__":
    main()
