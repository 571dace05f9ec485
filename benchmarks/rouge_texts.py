"""Candidates of the shape of CNN/DM and XSum for `benchmarks.rouge`, from a folder or the world.

A folder (or file) of JSON lines: `doc_id`, `summary`, `reference`, a row for each system. The
systems' summaries are candidates as they are; further ones are made of them, as beams are: whole
sentences (CNN/DM) or beginnings and ends (XSum) of two summaries, and one word left out.
"""

import json
import random
import re
import statistics
from collections import defaultdict
from pathlib import Path

Document = tuple[list[str], str]  # candidates, reference; a newline after each sentence

CNNDM, CNNDM_DISTINCT, XSUM = "CNN/DM", "CNN/DM, no sentence shared", "XSum"
LONG_REFERENCE = 32  # words; a set with longer references on average has CNN/DM's shape


def read_shapes(path: Path | None, candidates: int, seed: int = 0) -> dict[str, list[Document]]:
    """Documents by shape: from the JSON lines at `path`, else from the embedded world."""
    sets = _read(path) if path else _from_world(seed)
    shapes = {}
    for groups in sets:
        words = statistics.mean(len(reference.split()) for _, reference in groups)
        generator = random.Random(seed)
        if words > LONG_REFERENCE:
            made = [_long(summaries, ref, candidates, generator) for summaries, ref in groups]
            shapes[CNNDM] = made
            shapes[CNNDM_DISTINCT] = [_unshared(document) for document in made]
        else:
            shapes[XSUM] = [
                _short(summaries, ref, candidates, generator) for summaries, ref in groups
            ]
    return shapes


def describe(documents: list[Document]) -> str:
    """What the texts are like: words, sentences and how many of them differ, a document."""
    texts = [text for candidates, reference in documents for text in [*candidates, reference]]
    per = len(texts) / len(documents)
    words = statistics.mean(len(text.split()) for text in texts)
    sentences = statistics.mean(len(text.split("\n")) for text in texts)
    distinct = statistics.mean(
        len({line for text in [*candidates, reference] for line in text.split("\n")})
        for candidates, reference in documents
    )
    return (
        f"{len(documents)} documents, {words:.0f} words and {sentences:.1f} sentences a text, "
        f"{distinct:.0f} of {sentences * per:.0f} sentences a document distinct"
    )


def _read(path: Path) -> list[list[tuple[list[str], str]]]:
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    sets = []
    for file in files:
        groups: dict[str, list[dict]] = defaultdict(list)
        for line in file.read_text().splitlines():
            row = json.loads(line)
            if not row.get("is_reference"):
                groups[row["doc_id"]].append(row)
        sets.append([([r["summary"] for r in g], g[0]["reference"]) for g in groups.values()])
    return sets


def _from_world(seed: int) -> list[list[tuple[list[str], str]]]:
    from brido.corpus.settings import WorldSettings
    from brido.world.generator import documents

    long, short = [], []
    generator = random.Random(seed)
    for row in documents(WorldSettings(), "train", 300):
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
    return ["\n".join(sentences) for sentences in candidates[:count]], "\n".join(
        _sentences(reference)
    )


def _short(summaries: list[str], reference: str, count: int, generator: random.Random) -> Document:
    candidates = [text for text in summaries if text.strip()]
    base = list(candidates)
    while len(candidates) < count:
        first, second = generator.choice(base).split(), generator.choice(base).split()
        cut = generator.randrange(len(first))
        candidates.append(_without_a_word(" ".join(first[:cut] + second[cut:]), generator) or "a")
    return candidates[:count], reference


def _unshared(document: Document) -> Document:
    """The document with a word of each sentence replaced, so that no two sentences are equal."""
    candidates, reference = document
    number = 0
    changed = []
    for text in candidates:
        lines = text.split("\n")
        for place, line in enumerate(lines):
            words = line.split()
            words[len(words) // 2 : len(words) // 2 + 1] = [f"w{number}"]
            lines[place] = " ".join(words)
            number += 1
        changed.append("\n".join(lines))
    return changed, reference
