"""Candidates of the shape of CNN/DM and XSum, from a folder of system summaries or from the world.

A folder (or file) of JSON lines: `doc_id`, `summary`, `reference`, a row for each system's summary
of a document; rows with `is_reference` are left out. The systems' summaries are candidates as they
are; further ones are made of them, as beams are: whole sentences (CNN/DM) or beginnings and ends
(XSum) of two summaries, and one word left out.
"""

import json
import random
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from brido.corpus.settings import WorldSettings
from brido.world import documents as articles

Document = tuple[list[str], str]  # candidates, reference; a newline after each sentence
CNNDM, CNNDM_DISTINCT, XSUM = "CNN/DM", "CNN/DM, no sentence shared", "XSum"
COMBINATIONS = {
    CNNDM: "mean_r1_r2_rlsum", CNNDM_DISTINCT: "mean_r1_r2_rlsum", XSUM: "harmonic_r1_r2",
}  # fmt: skip
LONG_REFERENCE = 32  # words


def read_shapes(path: Path | None, candidates: int) -> dict[str, list[Document]]:
    """Documents by shape: from the JSON lines at `path`, else from the embedded world.

    A file whose references are long on average has CNN/DM's shape, another one XSum's.
    """
    shapes = {}
    for documents in _from_files(path) if path else _from_world():
        generator = random.Random(0)
        words = statistics.mean(len(reference.split()) for _, reference in documents)
        shape, make = (CNNDM, _long) if words > LONG_REFERENCE else (XSUM, _short)
        shapes[shape] = [
            make(texts, reference, candidates, generator) for texts, reference in documents
        ]
        if shape == CNNDM:
            shapes[CNNDM_DISTINCT] = [_unshared(*document) for document in shapes[shape]]
    return shapes


def _from_files(path: Path) -> Iterator[list[Document]]:
    for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
        groups: dict[str, Document] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if not row.get("is_reference"):
                texts, _ = groups.setdefault(row["doc_id"], ([], row["reference"]))
                texts.append(row["summary"])
        yield list(groups.values())


def _from_world() -> list[list[Document]]:
    long, short = [], []
    generator = random.Random(0)
    for row in articles(WorldSettings(), "train", 300):
        sentences = _sentences(row["document"])
        picks = [generator.sample(sentences, min(len(sentences), 5)) for _ in range(9)]
        long.append(([" ".join(pick) for pick in picks[1:]], " ".join(picks[0])))
        short.append(([row["summary"], *sentences[:3]], row["summary"]))
    return [long, short]


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def _without_a_word(sentence: str, generator: random.Random) -> str:
    words = sentence.split()
    if len(words) > 4:
        words.pop(generator.randrange(len(words)))
    return " ".join(words)


def _long(summaries: list[str], reference: str, count: int, generator: random.Random) -> Document:
    parted = [_sentences(text) for text in summaries if text.strip()]
    candidates = [list(sentences) for sentences in parted]
    while len(candidates) < count:
        sentences = list(generator.choice(parted))
        sentences[generator.randrange(len(sentences))] = generator.choice(generator.choice(parted))
        place = generator.randrange(len(sentences))
        sentences[place] = _without_a_word(sentences[place], generator)
        candidates.append(sentences)
    texts = ["\n".join(sentences) for sentences in candidates[:count]]
    return texts, "\n".join(_sentences(reference))


def _short(summaries: list[str], reference: str, count: int, generator: random.Random) -> Document:
    candidates = [text for text in summaries if text.strip()]
    base = list(candidates)
    while len(candidates) < count:
        first, second = generator.choice(base).split(), generator.choice(base).split()
        cut = generator.randrange(len(first))
        candidates.append(_without_a_word(" ".join(first[:cut] + second[cut:]), generator) or "a")
    return candidates[:count], reference


def _unshared(candidates: list[str], reference: str) -> Document:
    """The document with a word of each sentence replaced, so that no two sentences are equal."""
    number, changed = 0, []
    for text in candidates:
        lines = text.split("\n")
        for place, line in enumerate(lines):
            words = line.split()
            words[len(words) // 2 : len(words) // 2 + 1] = [f"w{number}"]
            lines[place] = " ".join(words)
            number += 1
        changed.append("\n".join(lines))
    return changed, reference
