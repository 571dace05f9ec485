"""Agreement of votes with human labels: which vote to trust.

    python -m benchmarks.votes PATH

PATH is what `benchmarks.texts` describes; each row has a label too (`expert_consistency` or
`faithful_word`, more is better). For each vote the systems of a document are ordered by Eq. 2.
Every pair of systems with different labels asks whether the vote orders it as the label does; a tie
of the vote is half right. The same for the pairs whose lengths in words differ by at most 15 % of
the longer one. Intervals are over documents (bootstrap, 2,000 samples).

These sets hold no articles, so a score with `scoring.support` cannot be measured on them.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import head, row
from benchmarks.texts import COMBINATIONS, read_sets, shape_of
from brido.rouge import similarity_matrix
from brido.utils.text import one_sentence_a_line
from brido.vote.check import Share, accuracies, comparable_pairs, pair_counts
from brido.vote.consensus import consensus_scores
from brido.vote.similarity import sentence_votes

LABELS = ("expert_consistency", "faithful_word")
ALPHAS = ("0", "1", "N-1", "inf")
SAMPLES = 2000
TOLERANCES = {"all pairs": 1.0, "equal length": 0.15}
Group = list[dict]


def votes(groups: list[Group], combination: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a name and the scores [D, N] of every vote."""
    texts = [[row["summary"] for row in group] for group in groups]
    references = [group[0]["reference"] for group in groups]
    matrices = {
        implementation: np.stack(
            [
                similarity_matrix(
                    [one_sentence_a_line(text) for text in own],
                    one_sentence_a_line(reference),
                    combination,
                    implementation=implementation,
                )
                for own, reference in zip(texts, references, strict=True)
            ]
        )
        for implementation in ("rouge_score", "pltrdy")
    }
    matrices["sentences"] = sentence_votes(texts, references, combination)
    for name, matrix in matrices.items():
        for alpha in ALPHAS:
            weight = matrix.shape[1] - 1 if alpha == "N-1" else float(alpha)
            yield f"{name}, alpha {alpha}", consensus_scores(matrix, weight)
    yield "the shorter", -lengths(groups).astype(float)


def lengths(groups: list[Group]) -> np.ndarray:
    """Words of every summary, [D, N]."""
    return np.array([[len(row["summary"].split()) for row in group] for group in groups])


def _text(share: Share) -> str:
    numbers = (f"{value:.3f}".lstrip("0") for value in (share.mean, share.low, share.high))
    return "{} ({}-{})".format(*numbers)


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    for name, groups in read_sets(parser.parse_args().path).items():
        label = next(key for key in LABELS if key in groups[0][0])
        combination = COMBINATIONS[shape_of([group[0]["reference"] for group in groups])]
        print(f"\n{name}: {label}, {combination}, {len(groups)} documents\n")
        unsupported = -np.array([[one[label] for one in group] for group in groups], float)
        found, columns = dict(votes(groups, combination)), {}
        for title, tolerance in TOLERANCES.items():
            pairs = comparable_pairs(unsupported, lengths(groups), tolerance)
            counts = np.stack([pair_counts(scores, pairs) for scores in found.values()])
            shares = accuracies(counts, SAMPLES, 0.95, 0)
            columns[f"{title} ({shares[0].count:,})"] = shares
        head("vote", *columns)
        for vote, *shares in zip(found, *columns.values(), strict=True):
            row(vote, *map(_text, shares))


if __name__ == "__main__":
    main()
