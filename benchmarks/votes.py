"""Agreement of every vote with human labels: which value of ROUGE and which alpha to trust.

    python -m benchmarks.votes PATH

PATH is a folder (or file) of JSON lines, a row for each system's summary of a document: `doc_id`,
`summary`, `reference`, a label (`expert_consistency` or `faithful_word`, more is better). Rows with
`is_reference` are left out. For each vote the systems of a document are ordered by Eq. 2, and
every pair of systems with different labels asks whether the vote orders it as the label does (a
tie of the vote is half right). The interval is over documents (bootstrap, 2,000 samples).
"""

import argparse
import json
import statistics
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np

from brido.consensus import consensus_scores
from brido.rouge import similarity_matrix
from brido.text import one_sentence_a_line

LABELS = ("expert_consistency", "faithful_word")
VALUES = ("fmeasure", "precision", "recall", "mean_f_precision")
LONG_REFERENCE = 32  # words; longer references on average: CNN/DM's combination, else XSum's
SAMPLES = 2000
Group = list[dict]


def read_sets(path: Path) -> dict[str, list[Group]]:
    """Documents by file: each the rows of its systems."""
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


def similarities(groups: list[Group], value: str, implementation: str) -> list[np.ndarray]:
    """The similarity matrix of each document's systems."""
    combination = combination_of(groups)
    return [
        similarity_matrix(
            [one_sentence_a_line(row["summary"]) for row in group],
            one_sentence_a_line(group[0]["reference"]),
            combination,
            value=value,
            implementation=implementation,
        )
        for group in groups
    ]


def agreement(groups: list[Group], scores: list[np.ndarray], label: str) -> np.ndarray:
    """Pairs ordered right and all pairs, [documents, 2]."""
    counts = np.zeros((len(groups), 2))
    for count, group, document_scores in zip(counts, groups, scores, strict=True):
        for i, j in combinations(range(len(group)), 2):
            difference = group[i][label] - group[j][label]
            if difference:
                vote = document_scores[i] - document_scores[j]
                count += (0.5 if vote == 0 else (vote > 0) == (difference > 0), 1)
    return counts


def interval(counts: np.ndarray) -> tuple[float, float]:
    """The bootstrap interval of 95 % of the share, over documents."""
    picks = np.random.default_rng(0).integers(0, len(counts), (SAMPLES, len(counts)))
    sums = counts[picks].sum(1)
    low, high = np.percentile(sums[:, 0] / sums[:, 1], [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    """Print a Markdown table a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    for name, groups in read_sets(parser.parse_args().path).items():
        label = next(key for key in LABELS if key in groups[0][0])
        pairs = 0
        rows = []
        for value, implementation in [
            *((v, "rouge_score") for v in VALUES),
            ("fmeasure", "pltrdy"),
        ]:
            matrices = similarities(groups, value, implementation)
            cells = []
            for alpha in ("0", "1", "N-1", "inf"):
                weights = [len(m) - 1 if alpha == "N-1" else float(alpha) for m in matrices]
                scores = [consensus_scores(m, a) for m, a in zip(matrices, weights, strict=True)]
                counts = agreement(groups, scores, label)
                pairs = int(counts[:, 1].sum())
                share = counts[:, 0].sum() / counts[:, 1].sum()
                low, high = interval(counts)
                cells.append(f"{share:.3f} ({low:.3f}-{high:.3f})")
            rows.append(f"| {implementation} {value} | {' | '.join(cells)} |")
        print(
            f"\n{name}: {label}, {combination_of(groups)}, {len(groups)} documents, {pairs} pairs"
        )
        print("| vote | alpha 0 | alpha 1 | alpha N-1 | alpha inf |\n|---|---|---|---|---|")
        print("\n".join(rows), flush=True)


if __name__ == "__main__":
    main()
