"""Pairwise ROUGE against rouge_score and rouge-score-rs: CPU time of one thread, interleaved.

    python -m benchmarks.rouge [--texts PATH] [--rounds 7]

Every round measures each side once: rouge_score on a random sample of pairs, rouge-score-rs on
whole documents (its batch call), `similarity_batch` on all, the same ones each round. Ratios are of
the least times over the rounds, for the N x N ordered pairs of a document that the vote needs.
`--texts` is described in `benchmarks.texts`; without it the texts are of the embedded world.
"""

import argparse
import random
import time
from importlib.metadata import version
from pathlib import Path

from rouge_score import rouge_scorer
from rouge_score_rs import rouge_scorer as rust_scorer

from benchmarks.harness import head, interleave, row
from benchmarks.texts import COMBINATIONS, Document, read_shapes
from brido.rouge import similarity_batch

DOCUMENTS = 100
SAMPLED_PAIRS, RUST_DOCUMENTS = 150, 4
MEASURES = {"harmonic_r1_r2": ["rouge1", "rouge2"]}
MEASURES["mean_r1_r2_rlsum"] = [*MEASURES["harmonic_r1_r2"], "rougeLsum"]
Pairs = list[tuple[str, str]]


def pairs_of(document: Document) -> Pairs:
    """(target, prediction) of every ordered pair of a document's candidates and its reference."""
    texts, size = [*document[0], document[1]], len(document[0])
    return [(texts[j], texts[i]) for i in range(size) for j in range(size + 1) if i != j]


def compare(documents: list[Document], combination: str, rounds: int) -> dict[str, float]:
    """The least seconds a document over the rounds, by side."""
    size = len(documents[0][0])
    candidates, references = zip(*documents, strict=True)
    original = rouge_scorer.RougeScorer(MEASURES[combination], use_stemmer=True)
    rust = rust_scorer.RougeScorer(MEASURES[combination], use_stemmer=True)
    generator = random.Random(0)
    sample = [generator.choice(pairs_of(generator.choice(documents))) for _ in range(SAMPLED_PAIRS)]
    lists = [
        tuple(map(list, zip(*pairs_of(document), strict=True)))
        for document in generator.sample(documents, RUST_DOCUMENTS)
    ]
    sides = {
        "brido": lambda: similarity_batch(candidates, references, combination),
        "rouge_score": lambda: [original.score(*pair) for pair in sample],
        "rouge-score-rs": lambda: [rust.score_batch(*texts) for texts in lists],
    }
    share = {"brido": 1 / len(documents), "rouge_score": size * size / len(sample)}
    share["rouge-score-rs"] = 1 / len(lists)
    return {side: times.least * share[side] for side, times in interleave(sides, rounds).items()}


def thread_gain(documents: list[Document], combination: str, rounds: int) -> float:
    """Wall time of one thread over that of two, the best of the rounds of each."""
    candidates, references = zip(*documents * 12, strict=True)
    times: dict[int, list[float]] = {1: [], 2: []}
    for threads in [1, 2] * rounds:
        started = time.perf_counter()
        similarity_batch(candidates, references, combination, threads)
        times[threads].append(time.perf_counter() - started)
    return min(times[1]) / min(times[2])


def main() -> None:
    """Print a row for each number of candidates and shape."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, help="JSON lines of system summaries")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    names = ("numba", "numpy", "rouge-score", "rouge-score-rs")
    print(", ".join(f"{name} {version(name)}" for name in names))
    head("shape", "N", "us a document", "over rouge_score", "over rouge-score-rs", "threads 2/1")
    for size in (16, 32):
        for shape, documents in read_shapes(options.texts, size).items():
            used, combination = documents[:DOCUMENTS], COMBINATIONS[shape]
            least = compare(used, combination, options.rounds)
            ours, gain = least["brido"], thread_gain(used, combination, 3)
            row(
                shape, size, f"{ours * 1e6:.0f}", f"{least['rouge_score'] / ours:,.0f}",
                f"{least['rouge-score-rs'] / ours:,.0f}", f"{gain:.2f}",
            )  # fmt: skip


if __name__ == "__main__":
    main()
