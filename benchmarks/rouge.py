"""Pairwise ROUGE against rouge_score and rouge-score-rs: CPU time of one thread, interleaved.

    python -m benchmarks.rouge [--texts PATH] [--rounds 7]

Every round measures each side once: rouge_score on a random sample of pairs, rouge-score-rs on
whole documents (its batch call), `similarity_batch` on all, the same ones each round. Ratios are of
the least times over the rounds (other load on the machine only adds), for the N x N ordered pairs
of a document that the vote needs. `--texts` is described in `benchmarks.rouge_texts`; without it
the texts are of the embedded world.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rouge_score import rouge_scorer
from rouge_score_rs import rouge_scorer as rust_scorer

from benchmarks.rouge_texts import XSUM, Document, describe, read_shapes
from brido.rouge import kernels, similarity_batch, values
from brido.rouge.tokens import text_bytes

DOCUMENTS = 100
SAMPLED_PAIRS, RUST_DOCUMENTS = 150, 4
MEASURES = {"harmonic_r1_r2": ["rouge1", "rouge2"]}
MEASURES["mean_r1_r2_rlsum"] = [*MEASURES["harmonic_r1_r2"], "rougeLsum"]
FIRST_CALL = """
import time
start = time.perf_counter(), time.process_time()
from brido.rouge import similarity_matrix
imported = time.perf_counter(), time.process_time()
similarity_matrix(["two men ran", "a man runs"], "two men running", "mean_r1_r2_rlsum")
print(*(b - a for a, b in zip(start, imported)))
print(*(b - a for a, b in zip(imported, (time.perf_counter(), time.process_time()))))
"""


def cpu(call: Callable[[], object]) -> float:
    """The CPU seconds of this process that `call` takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def compare(documents: list[Document], combination: str, rounds: int) -> dict[str, float]:
    """The least seconds a document over the rounds, by side."""
    size = len(documents[0][0])
    candidates, references = zip(*documents, strict=True)
    measures = MEASURES[combination]
    original = rouge_scorer.RougeScorer(measures, use_stemmer=True)
    rust = rust_scorer.RougeScorer(measures, use_stemmer=True)
    generator = random.Random(0)
    found: dict[str, list[float]] = {"brido": [], "rouge_score": [], "rouge-score-rs": []}

    def pairs(document: Document) -> list[tuple[str, str]]:
        texts = [*document[0], document[1]]
        return [(texts[j], texts[i]) for i in range(size) for j in range(size + 1) if i != j]

    sample = [generator.choice(pairs(generator.choice(documents))) for _ in range(SAMPLED_PAIRS)]
    lists = [
        tuple(map(list, zip(*pairs(document), strict=True)))
        for document in generator.sample(documents, RUST_DOCUMENTS)
    ]
    similarity_batch(candidates[:1], references[:1], combination)  # compiled or loaded
    for _ in range(rounds):
        seconds = cpu(lambda: similarity_batch(candidates, references, combination))
        found["brido"].append(seconds / len(documents))
        seconds = cpu(lambda: [original.score(*pair) for pair in sample])
        found["rouge_score"].append(seconds / len(sample) * size * size)
        seconds = cpu(lambda: [rust.score_batch(*texts) for texts in lists])
        found["rouge-score-rs"].append(seconds / len(lists))
    return {side: min(times) for side, times in found.items()}


def parts(documents: list[Document], combination: str, rounds: int) -> dict[str, float]:
    """Seconds a document of each part, as least of the rounds; kernels by leaving the rest out."""
    texts = [text for candidates, reference in documents for text in [*candidates, reference]]
    size = len(documents[0][0])
    data = text_bytes(texts)
    lengths = np.empty((len(documents), size + 1), np.int32)

    def count(codes: list[int]) -> np.ndarray:
        hits = np.empty((len(documents), len(codes), size, size + 1), np.int32)
        kernels.count_hits(
            *(data, len(documents), size + 1, size, 0, True, np.array(codes, np.int64)),
            *(hits, lengths),
        )
        return hits

    codes = [kernels.ROUGE1, kernels.ROUGE2, kernels.ROUGE_LSUM][: len(MEASURES[combination])]
    hits, similarity = count(codes), np.empty((len(documents), size, size + 1), np.float32)
    calls = {
        "bytes of the texts": lambda: text_bytes(texts),
        "tokens, stems, numbering": lambda: count([]),
        **{
            name: lambda code=code: count([code])
            for name, code in zip(MEASURES[combination], codes, strict=True)
        },
        "values": lambda: values.fill_similarity(hits, lengths, values.FMEASURE, similarity),
    }
    least = {name: min(cpu(call) for _ in range(3 * rounds)) for name, call in calls.items()}
    for name in MEASURES[combination]:
        least[name] -= least["tokens, stems, numbering"]
    return {name: seconds / len(documents) for name, seconds in least.items()}


def thread_gain(documents: list[Document], combination: str, rounds: int) -> float:
    """Wall time of one thread over that of two, the best of the rounds of each."""
    candidates, references = zip(*documents * 12, strict=True)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for threads, found in times.items():
            start = time.perf_counter()
            similarity_batch(candidates, references, combination, threads)
            found.append(time.perf_counter() - start)
    return min(times[1]) / min(times[2])


def first_call() -> list[str]:
    """Wall and CPU seconds of the import and of the first call, in a process of its own."""
    lines = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [
        f"{name}: {wall:.2f} s wall, {used:.2f} s CPU"
        for name, (wall, used) in zip(
            ("import", "first call"), (map(float, line.split()) for line in lines), strict=True
        )
    ]


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, help="JSON lines of system summaries")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    names = ("numba", "numpy", "rouge-score", "rouge-score-rs")
    print(", ".join(f"{name} {version(name)}" for name in names))
    print("| shape | N | us a document | over rouge_score | over rouge-score-rs | threads 2/1 |")
    print("|---|---|---|---|---|---|")
    notes = []
    for size in (16, 32):
        for shape, documents in read_shapes(options.texts, size).items():
            combination = "harmonic_r1_r2" if shape == XSUM else "mean_r1_r2_rlsum"
            used = documents[:DOCUMENTS]
            least = compare(used, combination, options.rounds)
            gain = thread_gain(used, combination, 3)
            ours = least["brido"]
            print(
                f"| {shape} | {size} | {ours * 1e6:.0f} | {least['rouge_score'] / ours:,.0f} "
                f"| {least['rouge-score-rs'] / ours:,.0f} | {gain:.2f} |",
                flush=True,
            )
            if size == 32:
                shares = parts(used, combination, options.rounds)
                listed = ", ".join(f"{name} {part * 1e6:.1f}" for name, part in shares.items())
                notes.append(f"{shape}: {describe(used)}\n  microseconds a document: {listed}")
    print("\n".join([*notes, *first_call()]))


if __name__ == "__main__":
    main()
