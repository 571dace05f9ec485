"""The losses against the paper's listing and BRIO's formula, both written as they are printed."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import MarginRankingLoss

from brido.training.loss import combined_loss, contrastive_loss, smoothed_cross_entropy

DOUBLE = torch.float64


def listing(
    log_likelihood: Tensor,
    scores: Tensor,
    margin: float,
    kind: str,
    gold: Tensor | None,
    gold_margin: float,
    gold_weight: float,
) -> Tensor:
    """A loop over offsets: the mean over batch and pairs of each, summed (the paper's appendix)."""
    candidates = log_likelihood.shape[1]
    total = torch.zeros((), dtype=log_likelihood.dtype)
    for offset in range(1, candidates):
        better = log_likelihood[:, :-offset].reshape(-1)
        worse = log_likelihood[:, offset:].reshape(-1)
        if kind == "fixed":
            total = total + MarginRankingLoss(margin * offset)(better, worse, torch.ones(1))
        else:
            gap = (scores[:, :-offset] - scores[:, offset:]).reshape(-1) * margin
            total = total + torch.relu(worse - better + gap).mean()
    if gold is not None:
        target = gold[:, None].expand_as(log_likelihood).reshape(-1)
        term = MarginRankingLoss(gold_margin)(target, log_likelihood.reshape(-1), torch.ones(1))
        total = total + gold_weight * term
    return total


def equation(
    log_likelihood: Tensor,
    scores: Tensor,
    margin: float,
    kind: str,
    gold: Tensor | None,
    gold_margin: float,
    gold_weight: float,
) -> Tensor:
    """Eq. 1 pair by pair, averaged over documents."""
    total = torch.zeros((), dtype=log_likelihood.dtype)
    for document in range(len(log_likelihood)):
        f, score = log_likelihood[document], scores[document]
        for i in range(len(f)):
            for j in range(i + 1, len(f)):
                gap = (j - i) * margin if kind == "fixed" else (score[i] - score[j]) * margin
                total = total + torch.relu(f[j] - f[i] + gap)
            if gold is not None:
                total = total + gold_weight * torch.relu(f[i] - gold[document] + gold_margin)
    return total / len(log_likelihood)


def batch(documents: int, candidates: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    f = torch.randn(documents, candidates, generator=generator, dtype=DOUBLE)
    scores = torch.rand(documents, candidates, generator=generator, dtype=DOUBLE)
    gold = torch.randn(documents, generator=generator, dtype=DOUBLE)
    return f, scores.sort(descending=True).values, gold


@given(
    documents=st.integers(1, 4),
    candidates=st.integers(1, 9),
    seed=st.integers(0, 10_000),
    margin=st.sampled_from([0.0, 0.01, 0.5, 3.0]),
    kind=st.sampled_from(["difference", "fixed"]),
    with_gold=st.booleans(),
    reduction=st.sampled_from(["listing", "sum"]),
)
@settings(max_examples=120)
def test_equals_the_loops_with_gradients(
    documents: int,
    candidates: int,
    seed: int,
    margin: float,
    kind: str,
    with_gold: bool,
    reduction: str,
) -> None:
    f, scores, gold = batch(documents, candidates, seed)
    oracle = listing if reduction == "listing" else equation
    results = []
    for function in (contrastive_loss, oracle):
        likelihood = f.clone().requires_grad_()
        reference = gold.clone().requires_grad_() if with_gold else None
        if function is oracle:
            loss = oracle(likelihood, scores, margin, kind, reference, 0.2, 0.7)
        else:
            weight = 0.7 if with_gold else 0.0
            loss = contrastive_loss(
                likelihood, scores, margin, kind, reduction, reference, 0.2, weight
            )
        if loss.requires_grad:
            loss.backward()
        results.append(
            (loss.detach(), likelihood.grad, None if reference is None else reference.grad)
        )
    for left, right in zip(*results, strict=True):
        if left is None or right is None:
            empty = torch.zeros(1, dtype=DOUBLE)
            left, right = (empty if side is None else side for side in (left, right))
            assert not left.any()
            assert not right.any()
        else:
            torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-12)


@given(
    documents=st.integers(1, 4),
    candidates=st.integers(1, 7),
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["difference", "fixed"]),
    with_gold=st.booleans(),
    reduction=st.sampled_from(["listing", "sum"]),
)
@settings(max_examples=120)
def test_who_cannot_be_elected_is_as_if_it_were_not_there(
    documents: int, candidates: int, seed: int, kind: str, with_gold: bool, reduction: str
) -> None:
    f, scores, gold = batch(documents, candidates, seed)
    generator = torch.Generator().manual_seed(seed)
    eligible = torch.rand(documents, candidates, generator=generator) < 0.6
    weight = 0.7 if with_gold else 0.0
    masked, alone = f.clone().requires_grad_(), f.clone().requires_grad_()
    loss = contrastive_loss(
        masked, scores, 0.3, kind, reduction, gold, 0.2, weight, eligible=eligible
    )
    # Document by document, of those alone that are there.
    oracle = listing if reduction == "listing" else equation
    expected = torch.zeros((), dtype=DOUBLE)
    for document, there in enumerate(eligible):
        if there.any():
            rows = alone[document][there][None], scores[document][there][None]
            reference = gold[document : document + 1] if with_gold else None
            expected = expected + oracle(*rows, 0.3, kind, reference, 0.2, weight) / documents
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    loss.backward()
    assert not masked.grad[~eligible].any()
    if expected.requires_grad:
        expected.backward()
        torch.testing.assert_close(masked.grad, alone.grad, rtol=1e-12, atol=1e-12)


def test_the_arithmetic_of_one_document() -> None:
    f = torch.tensor([[-1.0, -0.5, -2.0]], dtype=DOUBLE)
    scores = torch.tensor([[0.5, 0.3, 0.1]], dtype=DOUBLE)
    # (1,2): -0.5 + 1.0 + 0.2; (2,3): -2.0 + 0.5 + 0.2 < 0; (1,3): -2.0 + 1.0 + 0.4 < 0
    assert contrastive_loss(f, scores, 1.0).item() == pytest.approx(0.35)
    assert contrastive_loss(f, scores, 1.0, reduction="sum").item() == pytest.approx(0.7)
    # fixed: (1,2) -0.5 + 1.0 + 0.4; (2,3) -2.0 + 0.5 + 0.4 < 0; (1,3) -2.0 + 1.0 + 0.8 < 0
    fixed = contrastive_loss(f, scores, 0.4, "fixed", "sum")
    assert fixed.item() == pytest.approx(0.9)


def test_equal_scores_stay_in_the_order_of_the_candidates() -> None:
    f, scores, _ = batch(2, 40, seed=1)
    tied = scores.mul(3).round()
    loss = contrastive_loss(f, tied, 0.2, "fixed")
    torch.testing.assert_close(loss, listing(f, tied, 0.2, "fixed", None, 0.0, 0.0))


def test_the_reference_counts_for_nothing_unless_asked_and_then_without_a_margin() -> None:
    f, scores = torch.tensor([[-1.0, -3.0]], dtype=DOUBLE), torch.zeros(1, 2, dtype=DOUBLE)
    gold = torch.tensor([-1.5], dtype=DOUBLE)
    assert contrastive_loss(f, scores, 1.0, gold_log_likelihood=gold).item() == 0
    # The mean over candidates of what each is above the reference: 0.5 and nothing.
    weighed = contrastive_loss(f, scores, 1.0, gold_log_likelihood=gold, gold_weight=1.0)
    assert weighed.item() == 0.25


def test_the_loss_has_the_likelihoods_type_whatever_that_of_the_scores() -> None:
    loss = contrastive_loss(torch.zeros(1, 2), torch.tensor([[0.5, 0.25]], dtype=DOUBLE), 1.0)
    assert (loss.dtype, loss.item()) == (torch.float32, 0.25)


def brio_label_smoothing(logits: Tensor, target: Tensor, pad: int, smoothing: float) -> Tensor:
    """BRIO's formula on whole logits: a target distribution, then the mean over what is no pad."""
    log_probability = logits.log_softmax(-1)
    vocabulary = logits.shape[-1]
    wanted = torch.full_like(log_probability, smoothing / vocabulary)
    wanted.scatter_(-1, target[..., None], 1 - smoothing + smoothing / vocabulary)
    loss = -(wanted * log_probability).sum(-1)
    keep = (target != pad).to(loss.dtype)
    return (loss * keep).sum() / keep.sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_cross_entropy_equals_brio(smoothing: float) -> None:
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
    torch_loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=5, label_smoothing=smoothing
    )
    assert actual.item() == pytest.approx(torch_loss.item(), rel=1e-14)


def test_cross_entropy_takes_a_number_of_tokens_too() -> None:
    """As where it was summed over processes."""
    sums = torch.tensor([-3.0, -5.0]), torch.tensor([-20.0, -12.0])
    for tokens in (4.0, torch.tensor([1.0, 3.0])):
        assert smoothed_cross_entropy(*sums, tokens, 0.25).item() == (0.75 * 8 + 0.25 * 32) / 4


def test_equation_3_and_its_control() -> None:
    assert combined_loss(torch.tensor(2.0), torch.tensor(0.5), 10.0).item() == 7.0
    assert combined_loss(torch.tensor(2.0), torch.tensor(0.5), 0.0).item() == 2.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": torch.zeros(2, 4)}, r"\[2, 3\] and \[2, 4\]"),
        ({"margin_kind": "relative"}, "'relative'"),
        ({"reduction": "mean"}, "'mean'"),
        ({"gold_weight": 1.0}, "gold_log_likelihood"),
        ({"gold_log_likelihood": torch.zeros(3)}, r"\[2\], not \[3\]"),
        ({"eligible": torch.ones(2, 4, dtype=torch.bool)}, r"eligible .*\[2, 3\].*\[2, 4\]"),
        ({"eligible": torch.ones(2, 3)}, r"eligible .*float32"),
        ({"eligible": "all"}, "eligible"),
        ({"margin": float("nan")}, "margin"),
        ({"margin": -1.0}, r"margin .*-1\.0"),
        ({"margin": "wide"}, "margin .*'wide'"),
        ({"gold_margin": float("inf")}, "gold_margin .*inf"),
        ({"gold_weight": -1.0, "gold_log_likelihood": torch.zeros(2)}, "gold_weight"),
        ({"log_likelihood": torch.zeros(0, 3), "scores": torch.zeros(0, 3)}, r"\[0, 3\]"),
        ({"log_likelihood": torch.zeros(2, 0), "scores": torch.zeros(2, 0)}, r"\[2, 0\]"),
    ],
)
def test_bad_arguments_raise(changes: dict, message: str) -> None:
    arguments = {
        "log_likelihood": torch.zeros(2, 3),
        "scores": torch.zeros(2, 3),
        "margin": 0.1,
    }
    with pytest.raises(ValueError, match=message):
        contrastive_loss(**{**arguments, **changes})
