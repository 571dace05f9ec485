"""The projection in chunks of rows against the logits of all rows at once."""

import itertools
import weakref

import pytest
import torch
from torch.testing import assert_close

from brido.likelihood import projection
from brido.likelihood.projection import of_tokens, token_log_probability
from brido.models.interface import States

ROWS, WIDTH, VOCABULARY = 7, 5, 11
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def drawn(dtype=torch.float64):
    """hidden [R, D], weight [V, D] and bias [V]; targets [R]."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(ROWS, WIDTH), (VOCABULARY, WIDTH), (VOCABULARY,)]
    inputs = [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
    return inputs, torch.randint(VOCABULARY, (ROWS,), generator=generator)


def weighted(log_probability, mean):
    """A sum that every value enters with another weight."""
    weights = torch.linspace(-1, 2, ROWS, dtype=log_probability.dtype)
    return (weights * log_probability).sum() + (weights.flip(0) * mean).sum()


@pytest.fixture
def chunk(monkeypatch):
    """Sets the rows of a chunk, whose logits of all words are counted in elements."""
    for least in ("LEAST_ROWS", "LEAST_ROWS_GRADIENT"):
        monkeypatch.setattr(projection, least, 1)

    def set_rows(rows):
        monkeypatch.setitem(projection.CHUNK_ELEMENTS, "cpu", rows * VOCABULARY)

    return set_rows


@pytest.mark.parametrize("rows", [1, 3, 7, 8])
@pytest.mark.parametrize("asked", itertools.product([False, True], repeat=3))
def test_values_and_the_gradients_that_are_asked_for(rows, asked, chunk):
    chunk(rows)
    inputs, targets = drawn()
    for tensor, wants in zip(inputs, asked, strict=True):
        tensor.requires_grad_(wants)
    hidden, weight, bias = inputs
    every = (hidden @ weight.T + bias).log_softmax(-1)
    expected = every.gather(1, targets[:, None])[:, 0], every.mean(-1)
    values = token_log_probability(*inputs, targets)
    assert_close(values, expected, **EXACT)
    wanted = [tensor for tensor in inputs if tensor.requires_grad]
    if wanted:
        # A gradient that is not asked for is not computed: that of the weights is large.
        ones = torch.ones(ROWS, dtype=torch.float64)
        with torch.no_grad():
            computed = values[0].grad_fn.apply(ones, ones)[:3]
        assert tuple(gradient is not None for gradient in computed) == asked
        gradients = torch.autograd.grad(weighted(*values), wanted)
        assert_close(gradients, torch.autograd.grad(weighted(*expected), wanted), **EXACT)


def test_no_more_logits_than_a_chunks_exist_at_a_time(chunk, monkeypatch):
    chunk(3)
    sizes, held, real = [], [], projection._logits

    def watched(part, *rest):
        assert not any(reference() is not None for reference in held)
        sizes.append(len(part))
        logits = real(part, *rest)
        held.append(weakref.ref(logits))
        return logits

    monkeypatch.setattr(projection, "_logits", watched)
    inputs, targets = drawn()
    inputs[0].requires_grad_()
    values = token_log_probability(*inputs, targets)
    assert sizes == [3, 3, 1]
    weighted(*values).backward()
    assert sizes == [3, 3, 1] * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [1, 11, 1000])
def test_log_sum_exp_is_that_of_torch_bit_for_bit(columns, dtype):
    """Of rows far apart as of infinite logits; NaN stays NaN."""
    generator = torch.Generator().manual_seed(0)
    logits = 30 * torch.randn(8, columns, generator=generator, dtype=dtype)
    logits[1] -= 1e6
    logits[2] += 1e6
    logits[3] = -torch.inf
    logits[4, -1] = -torch.inf
    logits[5, 0] = torch.inf
    logits[6] = torch.inf
    logits[7, 0] = torch.nan
    expected = logits.logsumexp(-1)
    sums = projection._log_sum_exp(logits)
    assert sums.dtype == dtype
    assert torch.equal(sums[:7], expected[:7])
    assert sums[[3, 5, 6]].tolist() == [-torch.inf, torch.inf, torch.inf]
    assert sums[7].isnan()


class Capped(States):
    """A model whose head is more than a product."""

    def hidden(self, ids, scored):
        raise NotImplementedError

    def logits(self, hidden):
        return torch.tanh(hidden) * 3


@pytest.mark.parametrize("rows", [3, 7, 8])
def test_a_head_of_another_kind_runs_in_chunks(rows, monkeypatch):
    monkeypatch.setattr(projection, "ROWS", rows)
    (hidden, *_), targets = drawn()
    hidden.requires_grad_()
    targets %= WIDTH
    every = (torch.tanh(hidden) * 3).log_softmax(-1)
    expected = every.gather(1, targets[:, None])[:, 0], every.mean(-1)
    values = of_tokens(Capped(), hidden, targets)
    assert_close(values, expected, **EXACT)
    found, wanted = (torch.autograd.grad(weighted(*pair), hidden) for pair in (values, expected))
    assert_close(found, wanted, **EXACT)
