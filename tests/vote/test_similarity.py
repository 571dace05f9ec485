"""The rows of the similarity table, and the sentences that they may be computed from."""

import numpy as np
import pytest
from pool_rows import pooled

from brido.rouge import similarity_matrix
from brido.tables import CORPUS, POOL, similarity_schema, write_table
from brido.tables.join import SplitTables, parts_of
from brido.utils.errors import BridoError
from brido.vote.settings import PairwiseSettings
from brido.vote.similarity import (
    Comparer,
    needs_sentences,
    sentence_votes,
)

TEXTS = {
    "a": ["A cat sat. It ran.", "The cats sat."],
    "b": ["The dog ran.", "A dog runs. A cow lay."],
    "c": ["黑狗。白猫。", "白猫黑狗。"],
}
REFERENCES = {
    "a": "A cat sat down. Nobody ran.",
    "other": "s",
    "b": None,
    "c": "黑狗。白猫。",
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package as pip leaves it: a similarity that compares lengths, and one without numbers."""
    about = tmp_path / "site/lengths-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lengths\nVersion: 1.0\n")
    names = "[brido.similarities]\nlengths = lengths:ratio\nbroken = lengths:broken\n"
    (about / "entry_points.txt").write_text(names)
    (about.parent / "lengths.py").write_text(
        "def ratio(texts, targets):\n"
        "    return [min(len(a) / len(b), 1) for a, b in zip(texts, targets, strict=True)]\n"
        "def broken(texts, targets): return [float('nan')] * len(texts)\n"
    )
    monkeypatch.syspath_prepend(about.parent)


def test_the_similarity_of_another_package(installed, tables):
    (part,) = parts_of(tables, 9)
    names, found = compared(tables, part, combination="lengths")
    for name, matrix in zip(names, found, strict=True):
        texts = [*TEXTS[name], REFERENCES[name]]
        assert matrix[0, 1] == np.float32(min(len(texts[0]) / len(texts[1]), 1))
        assert matrix[0, 0] == matrix[1, 1] == 0
        last = np.nan if texts[2] is None else np.float32(min(len(texts[1]) / len(texts[2]), 1))
        np.testing.assert_equal(matrix[1, 2], last)
    # A text of sentences: each with the best match of the other text.
    _, found = compared(tables, part, "sentence", combination="lengths")
    assert found[0, 0, 1] == np.float32((10 / 13 + 7 / 13) / 2)
    with pytest.raises(BridoError, match="broken must give a finite number for each of 4 pairs"):
        compared(tables, part, combination="broken")
    with pytest.raises(ValueError, match="lenght.*did you mean lengths"):
        PairwiseSettings(combination="lenghts")


@pytest.fixture
def tables(tmp_path):
    split = SplitTables.at(tmp_path, "train")
    corpus = [
        {"id": name, "document": "d", "summary": text, "references": []}
        for name, text in REFERENCES.items()
    ]
    write_table(split.corpus, [corpus], CORPUS)
    write_table(split.pool, [[pooled(name, texts) for name, texts in TEXTS.items()]], POOL)
    return split


def compared(tables, part, unit="summary", size=2, **settings):
    """The ids of a part's documents, and their similarities [D, N, N + 1]."""
    settings = PairwiseSettings(**settings)
    compare = Comparer(tables, size, settings, unit, "cpu", lambda count, *, tokens=0: None)
    batch, counts = compare(part)
    assert counts == {}
    assert batch.schema.names == similarity_schema(size).names
    values = np.array(batch["similarity"].to_pylist(), np.float32)
    return batch["id"].to_pylist(), values.reshape(-1, size, size + 1)


def wanted(names, split=None, **how):
    """The matrices of documents, texts of sentences a line each if `split`; no reference is NaN."""
    found = []
    for name in names:
        texts = [*TEXTS[name], REFERENCES[name] or ""]
        if split:
            texts = [text.replace(split, f"{split}\n").replace("\n ", "\n") for text in texts]
        matrix = similarity_matrix([text.strip() for text in texts[:-1]], texts[-1].strip(), **how)
        if REFERENCES[name] is None:
            matrix[:, -1] = np.nan
        found.append(matrix)
    return found


@pytest.mark.parametrize(
    ("settings", "split"),
    [
        ({"combination": "harmonic_r1_r2"}, None),
        ({"combination": "harmonic_r1_r2", "use_stemmer": False}, None),
        ({"combination": "mean_r1_r2_rlsum"}, "."),
        ({"combination": "mean_r1_r2_rlsum", "tokenizer": "unicode"}, "。"),
        ({"combination": "mean_r1_r2_rlsum", "implementation": "pltrdy"}, None),
    ],
)
def test_rows_are_the_similarities_of_a_parts_texts(tables, settings, split):
    """ROUGE-Lsum of rouge_score compares texts of a sentence a line."""
    assert needs_sentences(PairwiseSettings(**settings)) == (split is not None)
    both, last = parts_of(tables, 2)
    for part, names in ((both, ["a", "b"]), (last, ["c"])):
        if split == "。" and part is both:
            continue
        ids, found = compared(tables, part, **settings)
        assert ids == names
        assert np.array_equal(found, wanted(names, split, **settings), equal_nan=True)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"combination": "mean_r1_r2_rlsum", "use_stemmer": False},
        {"combination": "mean_r1_r2_rlsum", "tokenizer": "unicode"},
    ],
)
def test_rows_of_sentences_are_their_votes(tables, settings):
    how = {"combination": "harmonic_r1_r2"} | settings
    (part,) = parts_of(tables, 3)
    ids, found = compared(tables, part, "sentence", **settings)
    texts = [REFERENCES[name] or "" for name in ids]
    votes = sentence_votes([TEXTS[name] for name in ids], texts, **how)
    assert votes.dtype == np.float32
    votes[1, :, -1] = np.nan
    assert np.array_equal(found, votes, equal_nan=True)
    # The only sentence of the second candidate is like each of the reference's.
    if settings.get("tokenizer"):
        ((_, like),) = similarity_matrix(["白猫黑狗。"], "黑狗。", **how)
        assert found[2, 1, 2] == like
