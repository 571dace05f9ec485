"""The run's vote from tables, under every setting, and the system that it elects."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pool_rows import pooled

from brido.tables import CORPUS, LIKELIHOOD, POOL, SUPPORT, similarity_schema, write_table
from brido.vote.consensus import consensus_scores
from brido.vote.select import score_documents
from brido.vote.settings import ScoringSettings
from brido.vote.signals import combined, dealt, shuffled_scores
from stages import elect, paths

SIZE = 4
TOKENS = [9, 4, 7, 1]
MORE = {"whole": [True] * SIZE, "copied": [0.0] * SIZE}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Tables of 1,030 validation documents (more than a batch) and what is in them."""
    monkeypatch.chdir(tmp_path)
    count, random = 1030, np.random.default_rng(0)
    found = {
        "similarity": random.random((count, SIZE, SIZE + 1)).astype(np.float32),
        "support": random.random((count, SIZE)).astype(np.float32),
        "log_probability": random.normal(-20, 4, (count, SIZE)),
        "prior": random.normal(-60, 9, (count, SIZE)),
        "texts": [[f"text {n}" for n in random.integers(0, 5, SIZE)] for _ in range(count)],
        "voters": random.random((count, SIZE)) < 0.9,
    }
    found["voters"][:, :2] = True
    ids = [f"d{n}" for n in range(count)]
    split = "validation"
    rows = [pooled(name, texts) for name, texts in zip(ids, found["texts"], strict=True)]
    for row, flags in zip(rows, found["voters"].tolist(), strict=True):
        row["voters"] = row["eligible"] = flags
    write_table(paths.pool(split), [rows], POOL)
    write_similarity(found)
    rows = [
        {"id": n, "support": v, "unsupported": [0] * SIZE, "words": [9] * SIZE} | MORE
        for n, v in zip(ids, found["support"].tolist(), strict=True)
    ]
    write_table(paths.support(split), [rows], SUPPORT)
    write_likelihood(found, others=3)
    corpus = [
        {"id": n, "document": "d", "summary": "s", "references": ["s"]}
        for n in ["first", *ids, "last"]
    ]
    write_table(paths.corpus(split), [corpus], CORPUS)
    return found


def write_similarity(found):
    rows = [
        {"id": f"d{n}", "similarity": values.reshape(-1)}
        for n, values in enumerate(found["similarity"])
    ]
    write_table(paths.similarity("validation"), [rows], similarity_schema(SIZE))


def write_likelihood(found, others):
    rows = [
        {"id": f"d{n}", "log_probability": own, "prior": prior, "tokens": TOKENS}
        for n, (own, prior) in enumerate(
            zip(found["log_probability"].tolist(), found["prior"].tolist(), strict=True)
        )
    ]
    if not others:
        rows = [row | {"prior": None} for row in rows]
    write_table(paths.likelihood("validation"), [rows], LIKELIHOOD, {"others": others})


def slow_scores(found, scoring, alpha):
    """Document by document, among its voters alone."""
    result = np.full((len(found["texts"]), SIZE), np.nan)
    votes, added = result.copy(), result.copy()
    for row in range(len(result)):
        inside = np.flatnonzero(found["voters"][row])
        similarity = found["similarity"][row][np.ix_(inside, [*inside, SIZE])]
        votes[row, inside] = consensus_scores(similarity, alpha)
        own, prior = (found[name][row, inside] for name in ("log_probability", "prior"))
        added[row, inside] = own - scoring.prior_weight * prior
        added[row, inside] /= np.array(TOKENS)[inside] ** scoring.length_penalty
    if scoring.shuffle:
        return shuffled_scores(votes, [f"d{n}" for n in range(len(result))])
    parts = [votes, found["support"].astype(float), added]
    if not (scoring.support or scoring.information):
        return votes
    for row in range(len(result)):
        inside = np.flatnonzero(found["voters"][row])
        vote, support, information = (part[row, inside] for part in parts)
        signals = [(scoring.support, support), (scoring.information, information)]
        result[row, inside] = dealt(votes[row, inside], combined(vote, signals))
    return result


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"support": 0.5},
        {"information": 1.0},
        {"information": 0.5, "prior_weight": 1.0},
        {"information": 0.5, "prior_weight": 0.2, "length_penalty": 1.0},
        {"information": 0.3, "prior_weight": 0.0, "support": 0.3},
        {"shuffle": True},
        {"shuffle": True, "support": 0.5, "information": 0.5},
    ],
    ids=str,
)
def test_every_vote_is_that_of_each_document_alone(tables, settings):
    scoring = ScoringSettings(**settings)
    for alpha in (0.0, 3.0, math.inf):
        batches = list(score_documents(paths.tables("validation"), scoring, alpha))
        assert len(batches) == 2
        scores = np.concatenate([batch.scores for batch in batches])
        wanted = slow_scores(tables, scoring, alpha)
        np.testing.assert_allclose(scores, wanted, rtol=1e-6, atol=1e-9)
        assert batches[-1].documents.ids[-1] == "d1029"


def test_the_elected_are_the_first_of_the_vote_without_the_reference(tables):
    params = {
        "documents": {"test": 0},
        "systems": ["base"],
        "scoring": {"alpha": 7, "support": 0.5},
    }
    Path("params.yaml").write_text(json.dumps(params))
    elect.main()
    rows = pq.read_table(paths.decoded("elected", "validation")).to_pylist()
    assert not paths.decoded("elected", "test").exists()
    assert [rows[0], rows[-1]] == [
        {"id": "first", "summary": "", "score": 0.0}, {"id": "last", "summary": "", "score": 0.0},
    ]  # fmt: skip
    scores = slow_scores(tables, ScoringSettings(support=0.5, information=0.0), 0.0)
    for row, texts, values in zip(rows[1:-1], tables["texts"], scores, strict=True):
        assert row["summary"] == texts[int(np.nanargmax(values))]
        assert row["score"] == pytest.approx(np.nanmax(values), rel=1e-6)
