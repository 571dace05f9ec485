"""Trains the examiner's spaCy pipeline: its noun chunks are what a summary states."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brido.utils.progress import Progress
from experiments.examiner import examples


def train_pipeline(rows: Sequence[dict], target: Path, seed: int, epochs: int) -> None:
    """Train a spaCy tagger and parser whose noun chunks are the references' statements."""
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("morphologizer")
    nlp.add_pipe("parser")
    gold = [Example.from_dict(nlp.make_doc(row["summary"]), _parse(nlp, row)) for row in rows]
    optimizer = nlp.initialize(lambda: gold)
    rng = random.Random(seed)
    with Progress("examiner: noun chunks", epochs * len(gold), "sentences") as progress:
        for _ in range(epochs):
            for batch in spacy.util.minibatch(rng.sample(gold, len(gold)), 64):
                nlp.update(batch, sgd=optimizer)
                progress.advance(len(batch))
    nlp.meta["name"], nlp.meta["version"] = "world_examiner", "1"
    nlp.to_disk(target)


def _parse(nlp: Any, row: dict) -> dict[str, list]:
    """Heads, labels and parts of speech: a statement's last word heads it and hangs on the root."""
    doc = nlp.make_doc(row["summary"])
    spans = [
        span
        for item in examples.statements(row)
        if (span := doc.char_span(item.start, item.end, alignment_mode="expand"))
    ]
    inside = {token.i: span.end - 1 for span in spans for token in span}
    root = next(token.i for token in doc if token.i not in inside)
    heads, labels, tags = [], [], []
    for token in doc:
        head = inside.get(token.i)
        heads.append(root if head in {None, token.i} else head)
        labels.append("dep" if head is None else "pobj" if head == token.i else "compound")
        tags.append("X" if head is None else "PROPN")
    labels[root] = "ROOT"
    return {"heads": heads, "deps": labels, "pos": tags}
