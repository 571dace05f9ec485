"""`training.loss` spread and listwise against one document after the other in plain Python."""

import math
from fractions import Fraction
from itertools import permutations
from statistics import mean, pvariance

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from brido.training.loss import contrastive_loss, listwise_loss, spread_loss
from brido.training.loss_terms import gold_term, listwise_term, ranking_term, spread_term
from brido.utils.errors import ArgumentError
from brido.vote.signals import combined, dealt

DOUBLE = torch.float64
# Ties and what is next to a tie: an order is dealt equal scores that differ by their last bit.
SCORES = [0.0, 0.25, 0.3, 0.3, 0.5, math.nextafter(0.5, 0.0), 1.0]
Document = tuple[list[float], list[float], list[float], list[bool]]


@st.composite
def batches(draw: st.DrawFn) -> list[Document]:
    """Documents: log p, base's log p, scores and eligible of as many candidates each."""
    candidates = draw(st.integers(1, 6))

    def row(of: st.SearchStrategy) -> st.SearchStrategy:
        return st.lists(of, min_size=candidates, max_size=candidates)

    likelihood = row(st.floats(-60, 0, width=32))
    document = st.tuples(likelihood, likelihood, row(st.sampled_from(SCORES)), row(st.booleans()))
    return draw(st.lists(document, min_size=1, max_size=4))


def columns(documents: list[Document]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log p, base's log p, scores [B, N] in float64, eligible [B, N]."""
    own, base, scores, eligible = zip(*documents, strict=True)
    numbers = (torch.tensor(column, dtype=DOUBLE) for column in (own, base, scores))
    return *numbers, torch.tensor(eligible)


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def slow_listwise(
    own: list[float], base: list[float], scores: list[float], temperature: float, scale: float
) -> tuple[float, list[float]]:
    """The loss of one document, whose candidates are all eligible, and its gradient to log p."""
    exact = [Fraction(score) for score in scores]
    deviation = math.sqrt(pvariance(exact))
    z = [float(score - mean(exact)) / deviation if deviation else 0.0 for score in exact]
    wanted = softmax([value / temperature for value in z])
    share = softmax([scale * (left - right) for left, right in zip(own, base, strict=True)])
    loss = -sum(want * math.log(have) for want, have in zip(wanted, share, strict=True))
    return loss, [scale * (have - want) for want, have in zip(wanted, share, strict=True)]


def slow_spread(own: list[float]) -> tuple[float, list[float]]:
    """The same for the spread."""
    middle = math.fsum(own) / len(own)
    loss = math.fsum((value - middle) ** 2 for value in own) / len(own)
    return loss, [2 * (value - middle) / len(own) for value in own]


def expect(
    loss: Tensor, likelihood: Tensor, documents: list[Document], slow: dict[int, tuple]
) -> None:
    """The loss is the mean of `slow` over all documents, and so is its gradient; 0 for the rest."""
    loss.backward()
    total, gradient = 0.0, torch.zeros_like(likelihood)
    for row, (own, gradients) in slow.items():
        total += own / len(documents)
        there = torch.tensor(documents[row][3])
        gradient[row, there] = torch.tensor(gradients, dtype=DOUBLE) / len(documents)
    assert loss.item() == pytest.approx(total, rel=1e-9, abs=1e-12)
    torch.testing.assert_close(likelihood.grad, gradient, rtol=1e-8, atol=1e-11)


def only_eligible(document: Document) -> list[list[float]]:
    *numbers, eligible = document
    return [[value for value, there in zip(row, eligible, strict=True) if there] for row in numbers]


@given(batches(), st.sampled_from([0.2, 1.0, 7.0]), st.sampled_from([0.05, 0.5, 3.0]))
@settings(max_examples=200)
def test_listwise(documents: list[Document], temperature: float, scale: float) -> None:
    likelihood, base, scores, eligible = columns(documents)
    likelihood.requires_grad_()
    loss = listwise_loss(likelihood, scores, base, temperature, scale, eligible)
    rows = {row: only_eligible(document) for row, document in enumerate(documents)}
    slow = {
        row: slow_listwise(*there, temperature, scale)
        for row, there in rows.items()
        if len(there[0]) > 1
    }
    expect(loss, likelihood, documents, slow)


@given(batches())
@settings(max_examples=200)
def test_spread(documents: list[Document]) -> None:
    likelihood, *_, eligible = columns(documents)
    likelihood.requires_grad_()
    rows = {row: only_eligible(document)[0] for row, document in enumerate(documents)}
    slow = {row: slow_spread(there) for row, there in rows.items() if len(there) > 1}
    expect(spread_loss(likelihood, eligible), likelihood, documents, slow)


def test_without_eligible_all_are() -> None:
    likelihood, base, scores, _ = columns([([-1.0, -4.0], [-2.0, -2.0], [0.1, 0.9], [True, True])])
    everybody = torch.ones(1, 2, dtype=torch.bool)
    assert spread_loss(likelihood) == spread_loss(likelihood, everybody) == 2.25
    assert listwise_loss(likelihood, scores, base) == listwise_loss(
        likelihood, scores, base, 1.0, 0.5, everybody
    )


def test_the_arithmetic_of_one_document() -> None:
    own, base = torch.tensor([[-10.0, -12.0]]), torch.tensor([[-11.0, -11.0]])
    scores = torch.tensor([[0.5, 0.3]], dtype=DOUBLE)
    # z = (1, -1), g = (1, -1): shares e / (e + 1/e) under temperature 1, 1 / (1 + 1/e) at scale .5.
    wanted, share = math.e / (math.e + 1 / math.e), 1 / (1 + 1 / math.e)
    expected = -wanted * math.log(share) - (1 - wanted) * math.log(1 - share)
    assert listwise_loss(own, scores, base).item() == pytest.approx(expected, rel=1e-6)
    # Temperature 2 and scale 1: both differ from 1 / the other.
    wanted, share = 1 / (1 + 1 / math.e), math.e / (math.e + 1 / math.e)
    expected = -wanted * math.log(share) - (1 - wanted) * math.log(1 - share)
    assert listwise_loss(own, scores, base, 2.0, 1.0).item() == pytest.approx(expected, rel=1e-6)
    assert spread_loss(torch.tensor([[-1.0, -2.0, -3.0]])).item() == pytest.approx(2 / 3)


def test_the_mean_over_documents_and_a_document_without_an_order() -> None:
    own, base, scores, eligible = columns([
        ([-10.0, -12.0], [-11.0, -11.0], [0.5, 0.3], [True, True]),
        ([-10.0, -12.0], [-11.0, -11.0], [0.5, 0.3], [True, True]),
        ([-10.0, -12.0], [-11.0, -11.0], [0.5, 0.3], [True, False]),
        ([-10.0, -12.0], [-11.0, -11.0], [0.5, 0.3], [False, False]),
    ])  # fmt: skip
    alone = listwise_loss(own[:1], scores[:1], base[:1]).item()
    both = listwise_loss(own, scores, base, eligible=eligible).item()
    assert both == pytest.approx(alone / 2, rel=1e-12)
    assert spread_loss(own, eligible).item() == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_finite_differences(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    own, base, scores = torch.randn(3, 3, 5, generator=generator, dtype=DOUBLE)
    eligible = torch.rand(3, 5, generator=generator) < 0.7
    own.requires_grad_()
    losses = (
        lambda f: spread_loss(f, eligible),
        lambda f: listwise_loss(f, scores, base, 0.7, 1.3, eligible),
        lambda f: contrastive_loss(f, scores, 0.5, eligible=eligible),
    )
    assert all(torch.autograd.gradcheck(loss, (own,)) for loss in losses)


def test_a_random_order_asks_nothing_of_listwise() -> None:
    """At base the gradients of all orders of the scores cancel, though that of each is large."""
    base = torch.tensor([[-3.0, -1.0, -8.0, -2.5]], dtype=DOUBLE)
    gradients = []
    for order in permutations([0.9, 0.5, 0.4, 0.1]):
        own = base.clone().requires_grad_()
        listwise_loss(own, torch.tensor([order], dtype=DOUBLE), base).backward()
        gradients.append(own.grad)
    assert all(gradient.abs().max() > 0.1 for gradient in gradients)
    assert torch.stack(gradients).mean(0).abs().max() < 1e-15


def test_dealt_scores_say_their_order_even_where_the_votes_are_equal() -> None:
    votes = [0.5, 0.5, 0.5, 0.5]
    scores = torch.from_numpy(dealt([votes], [[4.0, 1.0, 3.0, 2.0]]))
    assert scores.unique().numel() == 4
    generator = torch.Generator().manual_seed(0)
    own, base = torch.randn(2, 1, 4, generator=generator, dtype=DOUBLE)
    ranks = torch.tensor([[4.0, 1.0, 3.0, 2.0]], dtype=DOUBLE)
    assert listwise_loss(own, scores, base).item() == pytest.approx(
        listwise_loss(own, ranks, base).item(), rel=1e-12
    )
    # z is that of the signals.
    z = torch.from_numpy(combined(ranks.numpy(), []))
    expected = -(z.softmax(1) * (0.5 * (own - base)).log_softmax(1)).sum()
    assert listwise_loss(own, ranks, base).item() == pytest.approx(expected.item(), rel=1e-12)


@pytest.mark.parametrize("temperature", [5e-324, 1e-30])
def test_a_tiny_temperature_wants_the_best_alone(temperature: float) -> None:
    own = torch.tensor([[-1.0, -2.0, -3.0]], dtype=DOUBLE)
    scores, base = torch.tensor([[0.1, 0.7, 0.7]], dtype=DOUBLE), torch.zeros(1, 3, dtype=DOUBLE)
    log_share = (0.5 * own).log_softmax(1)[0]
    expected = -(log_share[1] + log_share[2]).item() / 2
    assert listwise_loss(own, scores, base, temperature).item() == pytest.approx(expected)


def test_losses_have_the_likelihoods_type() -> None:
    own, scores = torch.tensor([[-1.0, -2.0]]), torch.tensor([[0.5, 0.25]], dtype=DOUBLE)
    assert listwise_loss(own, scores, own.double()).dtype == torch.float32
    assert listwise_loss(own, scores.half(), own).item() == pytest.approx(math.log(2))
    assert spread_loss(own.double()).dtype == DOUBLE


def test_no_term_waits_for_an_accelerator() -> None:
    """Tensors of the device `meta` have no numbers: a function that reads one fails."""
    f, scores = torch.zeros(2, 3, device="meta"), torch.zeros(2, 3, dtype=DOUBLE, device="meta")
    eligible = torch.ones(2, 3, dtype=torch.bool, device="meta")
    assert listwise_term(f, scores, eligible, 1.0, 0.5).shape == ()
    assert spread_term(f, eligible).shape == ()
    for kind, reduction in (("difference", "listing"), ("fixed", "sum")):
        assert ranking_term(f, scores, eligible, 1.0, kind, reduction).shape == ()
        assert gold_term(f, f[:, 0], eligible, 1.0, reduction).shape == ()
    with pytest.raises((NotImplementedError, RuntimeError)):
        spread_loss(f, eligible)


GOOD = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]])


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("log_likelihood", lambda bad: contrastive_loss(bad, GOOD, 1.0)),
        ("scores", lambda bad: contrastive_loss(GOOD, bad, 1.0)),
        ("log_likelihood", spread_loss),
        ("log_likelihood", lambda bad: listwise_loss(bad, GOOD, GOOD)),
        ("scores", lambda bad: listwise_loss(GOOD, bad, GOOD)),
        ("base_log_likelihood", lambda bad: listwise_loss(GOOD, GOOD, bad)),
    ],
)
def test_what_is_no_number_is_named_with_its_place(name, call, number: float) -> None:
    bad = GOOD.clone()
    bad[1, 0] = number
    with pytest.raises(ArgumentError, match=rf"^{name} .*\[1, 0\] is {number}"):
        call(bad)


def test_a_reference_without_a_likelihood_counts_only_where_it_is_used() -> None:
    gold = torch.tensor([-1.0, math.nan])
    assert contrastive_loss(GOOD, GOOD, 1.0, gold_log_likelihood=gold).isfinite()
    with pytest.raises(ArgumentError, match=r"^gold_log_likelihood .*\[1\] is nan"):
        contrastive_loss(GOOD, GOOD, 1.0, gold_log_likelihood=gold, gold_weight=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spread_loss(torch.zeros(3)), r"log_likelihood .*\[3\]"),
        (lambda: spread_loss(torch.zeros(2, 0)), r"\[2, 0\]"),
        (lambda: spread_loss(torch.zeros(2, 3, dtype=torch.long)), "int64"),
        (lambda: spread_loss(GOOD, torch.ones(2, 2)), "eligible .*float32"),
        (lambda: listwise_loss(GOOD, GOOD[:, :1], GOOD), r"\[2, 2\] and \[2, 1\] and \[2, 2\]"),
        (lambda: listwise_loss(GOOD, GOOD, GOOD[0]), r"base_log_likelihood .* and \[2\]"),
        (lambda: listwise_loss(GOOD, GOOD, "base"), "base_log_likelihood"),
        (lambda: listwise_loss(GOOD, GOOD, GOOD, 0.0), r"temperature .*0\.0"),
        (lambda: listwise_loss(GOOD, GOOD, GOOD, math.inf), "temperature .*inf"),
        (lambda: listwise_loss(GOOD, GOOD, GOOD, 1.0, -1.0), r"log_ratio_scale .*-1\.0"),
        (lambda: listwise_loss(GOOD, GOOD, GOOD, 1.0, math.nan), "log_ratio_scale"),
    ],
)
def test_bad_arguments_raise(call, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
