"""Log-probabilities of given tokens without ever holding the logits of all of them.

For V vocabulary entries the logits of one document's 32 candidates are the largest tensors of a
training step (at bart-large's shape 650 MB in float32, and log_softmax doubles that). Here the
projection runs in chunks of rows, keeps one number a row, and is computed again, chunk by chunk, in
the backward pass: a third more work in this one layer, almost none of its memory.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from brido.models.interface import States
from brido.models.products import add_product, linear

# Logits held at once. A processor's caches like few, an accelerator wants large products.
CHUNK_ELEMENTS = {"cpu": 2**21}
CHUNK_ELEMENTS_ACCELERATOR = 2**26
# However large the vocabulary: each chunk reads all weights, and adds to all of their gradient.
LEAST_ROWS = 128
LEAST_ROWS_GRADIENT = 256
ROWS = 256  # of logits that are more than a product with the weights
MEAN_ROWS = 4096  # of weights that are copied at once


def of_tokens(states: States, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """`token_log_probability` of what `states.hidden` returned, by whatever head the model has."""
    if states.head is not None:
        return token_log_probability(hidden, states.head.weight, states.head.bias, targets)
    found = []
    for part in zip(hidden.split(ROWS), targets.split(ROWS), strict=True):
        again = torch.is_grad_enabled()
        run = partial(_of_logits, states)
        found.append(checkpoint(run, *part, use_reentrant=False) if again else run(*part))
    log_probability, mean = (torch.cat(parts) for parts in zip(*found, strict=True))
    return log_probability, mean


def _of_logits(states: States, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    logits = states.logits(hidden)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    return logits.gather(1, targets[:, None])[:, 0], logits.mean(-1)


def token_log_probability(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor
) -> tuple[Tensor, Tensor]:
    """log p(target) and the mean of log p(v) over the vocabulary, each [R], float32 or float64.

    hidden [R, D], weight [V, D], bias [V] or None, targets [R]: the logits are
    hidden @ weight.T + bias, of which at most a chunk of rows exists at a time. Differentiable in
    hidden, weight and bias. Under autocast the products run in autocast's type; the sums over the
    vocabulary never run in less than float32.
    """
    device = hidden.device.type
    exact = torch.promote_types(hidden.dtype, torch.float32)
    if torch.is_autocast_enabled(device):
        product = torch.get_autocast_dtype(device)
    else:
        product = hidden.dtype
    with torch.autocast(device, enabled=False):
        if bias is None:
            bias = weight.new_zeros(weight.shape[0])
        log_probability, normalizer = _Chunked.apply(
            hidden.to(product), weight.to(product), bias.to(exact), targets
        )
        # The mean logit is a product with the mean weight: no second pass over the vocabulary.
        if weight.dtype == exact:
            mean_row = weight.mean(0)
        else:  # in parts: a copy of all weights would be the largest tensor here
            sums = [part.to(exact).sum(0) for part in weight.split(MEAN_ROWS)]
            mean_row = torch.stack(sums).sum(0) / len(weight)
        mean_logit = hidden.to(exact) @ mean_row + bias.to(exact).mean()
    return log_probability, mean_logit - normalizer


def _log_sum_exp(logits: Tensor) -> Tensor:
    """torch.logsumexp of each row of [R, V], bit for bit, without a copy: the logits are lost."""
    largest = logits.amax(-1, keepdim=True)
    largest.masked_fill_(largest.isinf(), 0.0)
    return logits.sub_(largest).exp_().sum(-1).log_().add_(largest[:, 0])


class _Chunked(torch.autograd.Function):
    """(log p(target), log sum exp of the logits) of every row; logits recomputed in backward."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        elements = CHUNK_ELEMENTS.get(hidden.device.type, CHUNK_ELEMENTS_ACCELERATOR)
        rows = max(LEAST_ROWS, elements // len(weight))
        log_probability, normalizer = bias.new_empty(2, hidden.shape[0]).unbind()
        for start in range(0, hidden.shape[0], rows):
            part = slice(start, start + rows)
            logits = _logits(hidden[part], weight, bias)
            chosen = logits.gather(1, targets[part, None])[:, 0]
            normalizer[part] = _log_sum_exp(logits)
            log_probability[part] = chosen - normalizer[part]
            del logits  # before the next ones exist
        ctx.save_for_backward(hidden, weight, bias, targets, normalizer)
        return log_probability, normalizer

    @staticmethod
    def backward(
        ctx: Any, grad_log_probability: Tensor, grad_normalizer: Tensor
    ) -> tuple[Tensor | None, ...]:
        hidden, weight, bias, targets, normalizer = ctx.saved_tensors
        elements = CHUNK_ELEMENTS.get(hidden.device.type, CHUNK_ELEMENTS_ACCELERATOR)
        rows = max(LEAST_ROWS_GRADIENT, elements // len(weight))
        grad_hidden = torch.empty_like(hidden) if ctx.needs_input_grad[0] else None
        grad_weight = (
            torch.zeros_like(weight, dtype=bias.dtype) if ctx.needs_input_grad[1] else None
        )
        grad_bias = torch.zeros_like(bias) if ctx.needs_input_grad[2] else None
        for start in range(0, hidden.shape[0], rows):
            part = slice(start, start + rows)
            # d logits = (d normalizer - d log p) * softmax, plus d log p at the target.
            grad = _logits(hidden[part], weight, bias).sub_(normalizer[part, None]).exp_()
            grad.mul_((grad_normalizer[part] - grad_log_probability[part])[:, None])
            grad.scatter_add_(1, targets[part, None], grad_log_probability[part, None])
            if grad_bias is not None:
                grad_bias += grad.sum(0)
            grad = grad.to(hidden.dtype)
            if grad_hidden is not None:
                grad_hidden[part] = linear(grad, weight.T)
            if grad_weight is not None:
                add_product(grad_weight, grad.T, hidden[part])
            del grad
        if grad_weight is not None:
            grad_weight = grad_weight.to(weight.dtype)
        return grad_hidden, grad_weight, grad_bias, None


def _logits(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    if hidden.dtype == bias.dtype:
        return linear(hidden, weight, bias)
    return linear(hidden, weight).to(bias.dtype).add_(bias)
