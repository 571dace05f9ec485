"""Natural mistakes: what converts is converted, the rest refused by name, with one exception."""

import math

import numpy as np
import pytest
import torch

from brido.rouge import rouge_matrix, similarity_batch, similarity_matrix
from brido.search import SearchSettings
from brido.stats import bootstrap_interval, means
from brido.training.loss import contrastive_loss
from brido.utils.errors import ArgumentError
from brido.vote.consensus import consensus_scores, ranking

MATRIX = np.array([[0, 0.5, 0.25], [0.75, 0, 1.0]])
NAN, R = math.nan, "harmonic_r1_r2"


def test_what_converts_is_converted():
    expected = consensus_scores(MATRIX, 1).tolist()
    for same in (MATRIX.tolist(), torch.tensor(MATRIX), torch.tensor(MATRIX, requires_grad=True)):
        assert consensus_scores(same, 1).tolist() == expected
    assert consensus_scores(MATRIX, np.float32(1)).tolist() == expected
    assert ranking([1, 3, 2]).tolist() == ranking(torch.tensor([1, 3, 2])).tolist() == [1, 2, 0]
    assert ranking(np.array([1, 3, 2], np.uint8)).tolist() == [1, 2, 0]
    assert ranking([NAN, 1, 2]).tolist() == [2, 1, 0]
    texts = ["the cat sat", "a cat"]
    found = rouge_matrix(texts, texts)["rouge1"].tolist()
    for same in (tuple(texts), np.array(texts), iter(texts)):
        assert rouge_matrix(same, texts)["rouge1"].tolist() == found
    assert rouge_matrix(texts, texts, iter(["rouge1"]))["rouge1"].tolist() == found
    assert similarity_batch(np.array([texts]), np.array(["a cat"]), R).tolist() == (
        similarity_matrix(texts, "a cat", R)[None].tolist()
    )
    assert means([[1.0, 2.0], [3.0, 4.0]]).tolist() == [2.0, 3.0]
    f, scores = [[-1.0, -0.5, -2.0]], [[0.5, 0.3, 0.1]]
    assert contrastive_loss(f, np.array(scores), 1.0).item() == pytest.approx(0.35)


def test_candidates_in_any_order_cost_the_same():
    generator = torch.Generator().manual_seed(0)
    f = torch.randn(4, 7, generator=generator, dtype=torch.float64)
    scores = torch.rand(4, 7, generator=generator).sort(1, descending=True).values
    shuffle = torch.randperm(7, generator=generator)
    for kind in ("difference", "fixed"):
        for reduction in ("listing", "sum"):
            ranked = f.clone().requires_grad_()
            mixed = f[:, shuffle].clone().requires_grad_()
            loss = contrastive_loss(ranked, scores, 0.1, kind, reduction)
            same = contrastive_loss(mixed, scores[:, shuffle], 0.1, kind, reduction)
            assert same.item() == loss.item()
            loss.backward()
            same.backward()
            assert torch.equal(mixed.grad, ranked.grad[:, shuffle])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: rouge_matrix("the cat sat", ["a"]), "predictions must be a list of texts, not 't"),
        (lambda: rouge_matrix([["a"]], ["a"]), r"predictions\[0\] is \['a'\], not a text"),
        (lambda: similarity_matrix("the cat sat", "a", R), r"candidates\[0\] must be a list"),
        (lambda: similarity_batch([["a", "b"]], ["c"], R, threads=0), "threads must be at least 1"),
        (lambda: consensus_scores([[1, 2], [3]], 0), "similarity must be an array"),
        (lambda: consensus_scores(MATRIX * NAN, 0), r"similarity of candidate \[0\]"),
        (lambda: consensus_scores(np.stack([MATRIX, MATRIX * NAN]), 1), r"candidate \[1, 0\]"),
        (lambda: consensus_scores(MATRIX, "half"), "alpha must be a number.*not 'half'"),
        (lambda: SearchSettings(length_penalty=10**400), "length_penalty"),
        (lambda: consensus_scores(MATRIX, 0, "mean"), "normalization 'mean'"),
        (lambda: bootstrap_interval(np.zeros(3), 100, 0.95, 0), "one column is values"),
        (lambda: bootstrap_interval(np.zeros((3, 1)), 100, 95, 0), "confidence .95. between 0"),
        (lambda: contrastive_loss(torch.zeros(3), torch.zeros(3), 1.0), r"not \[3\] and \[3\]"),
        (
            lambda: contrastive_loss("ab", torch.zeros(1, 3), 1.0),
            "log_likelihood and scores must be tensors",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(call, named):
    with pytest.raises(ArgumentError, match=named):
        call()
