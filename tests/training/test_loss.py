"""The losses against the paper's listing and BRIO's formula, both written as they are printed."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import MarginRankingLoss

from brido.training.loss import combined_loss, contrastive_loss, smoothed_cross_entropy

DOUBLE = torch.float64
GOLD_MARGIN, GOLD_WEIGHT = 0.2, 0.7


def listing(f, scores, margin, kind, gold):
    """A loop over offsets: the mean over batch and pairs of each, summed (the paper's appendix)."""
    total = torch.zeros((), dtype=f.dtype)
    for offset in range(1, f.shape[1]):
        better, worse = f[:, :-offset].reshape(-1), f[:, offset:].reshape(-1)
        if kind == "fixed":
            total = total + MarginRankingLoss(margin * offset)(better, worse, torch.ones(1))
        else:
            gap = (scores[:, :-offset] - scores[:, offset:]).reshape(-1) * margin
            total = total + torch.relu(worse - better + gap).mean()
    if gold is not None:
        target = gold[:, None].expand_as(f).reshape(-1)
        term = MarginRankingLoss(GOLD_MARGIN)(target, f.reshape(-1), torch.ones(1))
        total = total + GOLD_WEIGHT * term
    return total


def equation(f, scores, margin, kind, gold):
    """Eq. 1 pair by pair, averaged over documents."""
    total = torch.zeros((), dtype=f.dtype)
    for document, (own, score) in enumerate(zip(f, scores, strict=True)):
        for i in range(len(own)):
            for j in range(i + 1, len(own)):
                gap = (j - i) * margin if kind == "fixed" else (score[i] - score[j]) * margin
                total = total + torch.relu(own[j] - own[i] + gap)
            if gold is not None:
                missed = torch.relu(own[i] - gold[document] + GOLD_MARGIN)
                total = total + GOLD_WEIGHT * missed
    return total / len(f)


ORACLES = {"listing": listing, "sum": equation}


def batch(documents, candidates, seed):
    """f, scores best first, gold, and about six of ten eligible."""
    generator = torch.Generator().manual_seed(seed)
    f = torch.randn(documents, candidates, generator=generator, dtype=DOUBLE)
    scores = torch.rand(documents, candidates, generator=generator, dtype=DOUBLE)
    gold = torch.randn(documents, generator=generator, dtype=DOUBLE)
    eligible = torch.rand(documents, candidates, generator=generator) < 0.6
    return f, scores.sort(descending=True).values, gold, eligible


@given(
    shape=st.tuples(st.integers(1, 4), st.integers(1, 9)),
    seed=st.integers(0, 10_000),
    margin=st.sampled_from([0.0, 0.01, 0.5, 3.0]),
    kind=st.sampled_from(["difference", "fixed"]),
    with_gold=st.booleans(),
    reduction=st.sampled_from(["listing", "sum"]),
    all_eligible=st.booleans(),
)
@settings(max_examples=200)
def test_equals_the_loops_with_gradients_of_those_that_are_eligible(
    shape, seed, margin, kind, with_gold, reduction, all_eligible
):
    f, scores, gold, eligible = batch(*shape, seed)
    if all_eligible:
        eligible = torch.ones_like(eligible)
    own, other = f.clone().requires_grad_(), f.clone().requires_grad_()
    weight = GOLD_WEIGHT if with_gold else 0.0
    order = torch.randperm(shape[1], generator=torch.Generator().manual_seed(seed))
    loss = contrastive_loss(
        own[:, order], scores[:, order], margin, kind, reduction, gold, GOLD_MARGIN, weight,
        None if all_eligible else eligible[:, order],
    )  # fmt: skip
    # Document by document, of those alone that are there; and the batch as it is.
    expected = torch.zeros((), dtype=DOUBLE)
    for document, there in enumerate(eligible):
        if there.any():
            rows = other[document][there][None], scores[document][there][None]
            reference = gold[document : document + 1] if with_gold else None
            expected = expected + ORACLES[reduction](*rows, margin, kind, reference) / len(f)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    if all_eligible:
        whole = ORACLES[reduction](f, scores, margin, kind, gold if with_gold else None)
        torch.testing.assert_close(loss, whole, rtol=1e-12, atol=1e-12)
    (loss + 0 * own.sum()).backward()
    (expected + 0 * other.sum()).backward()
    torch.testing.assert_close(own.grad, other.grad, rtol=1e-12, atol=1e-12)


def test_equal_scores_stay_in_the_order_of_the_candidates():
    f, scores, *_ = batch(2, 40, seed=1)
    tied = scores.mul(3).round()
    loss = contrastive_loss(f, tied, 0.2, "fixed")
    torch.testing.assert_close(loss, listing(f, tied, 0.2, "fixed", None))


def test_the_reference_counts_for_nothing_unless_asked_and_then_without_a_margin():
    f, scores = torch.tensor([[-1.0, -3.0]], dtype=DOUBLE), torch.zeros(1, 2, dtype=DOUBLE)
    gold = torch.tensor([-1.5], dtype=DOUBLE)
    assert contrastive_loss(f, scores, 1.0, gold_log_likelihood=gold).item() == 0
    # The mean over candidates of what each is above the reference: 0.5 and nothing.
    weighed = contrastive_loss(f, scores, 1.0, gold_log_likelihood=gold, gold_weight=1.0)
    assert weighed.item() == 0.25


def brio_label_smoothing(logits, target, pad, smoothing):
    """BRIO's formula on whole logits: a target distribution, then the mean over what is no pad."""
    log_probability = logits.log_softmax(-1)
    vocabulary = logits.shape[-1]
    wanted = torch.full_like(log_probability, smoothing / vocabulary)
    wanted.scatter_(-1, target[..., None], 1 - smoothing + smoothing / vocabulary)
    loss = -(wanted * log_probability).sum(-1)
    keep = (target != pad).to(loss.dtype)
    return (loss * keep).sum() / keep.sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_cross_entropy_equals_brio(smoothing):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 6, 13, generator=generator, dtype=DOUBLE)
    target = torch.randint(0, 13, (3, 6), generator=generator)
    target[0, 4:] = target[2, 1:] = 5
    keep = target != 5
    log_probability = logits.log_softmax(-1)
    chosen = log_probability.gather(-1, target[..., None])[..., 0] * keep
    mean = log_probability.mean(-1) * keep
    actual = smoothed_cross_entropy(chosen.sum(-1), mean.sum(-1), keep.sum(-1), smoothing)
    expected = brio_label_smoothing(logits, target, 5, smoothing)
    assert actual.item() == pytest.approx(expected.item(), rel=1e-14)


@pytest.mark.parametrize("tokens", [4.0, torch.tensor([1.0, 3.0]), 1, torch.tensor([1])])
def test_cross_entropy_is_a_mean_over_tokens_however_few(tokens):
    """A number of them, as where it was summed over processes, or that of each text."""
    sums = torch.tensor([-3.0, -5.0]), torch.tensor([-20.0, -12.0])
    count = float(torch.as_tensor(tokens).sum())
    assert smoothed_cross_entropy(*sums, tokens, 0.25).item() == (0.75 * 8 + 0.25 * 32) / count


def test_equation_3_and_its_control():
    assert combined_loss(torch.tensor(2.0), torch.tensor(0.5), 10.0).item() == 7.0
    assert combined_loss(torch.tensor(2.0), torch.tensor(0.5), 0.0).item() == 2.0
