"""What callers hand to the contrastive loss, checked."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from brido.utils.arguments import as_number, check_choices
from brido.utils.errors import ArgumentError

CHOICES = {"margin_kind": ("difference", "fixed"), "reduction": ("listing", "sum")}


def checked(
    log_likelihood: Any,
    scores: Any,
    eligible: Any,
    gold: Any,
    choices: Mapping[str, str],
    numbers: Mapping[str, float],
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Likelihoods, scores, eligible [B, N] and gold [B]. Raise ArgumentError as the loss says."""
    likelihood = _floating("log_likelihood", log_likelihood)
    scores = _floating("scores", scores).to(likelihood.device)
    if gold is not None:
        gold = _floating("gold_log_likelihood", gold)
    if likelihood.ndim != 2 or scores.shape != likelihood.shape:
        raise ArgumentError(
            "log_likelihood and scores must both be [documents, candidates], not "
            f"{list(likelihood.shape)} and {list(scores.shape)}"
        )
    if not likelihood.numel():
        raise ArgumentError(
            f"log_likelihood is empty, {list(likelihood.shape)}: at least one document and one "
            "candidate are needed"
        )
    check_choices({name: (choice, CHOICES[name]) for name, choice in choices.items()})
    if numbers["gold_weight"] and gold is None:
        raise ArgumentError("gold_weight needs gold_log_likelihood")
    if gold is not None and gold.shape != likelihood.shape[:1]:
        raise ArgumentError(
            f"gold_log_likelihood must be [{likelihood.shape[0]}], not {list(gold.shape)}"
        )
    for name, number in numbers.items():
        if not 0 <= as_number(name, number) < math.inf:
            raise ArgumentError(f"{name} must be a finite number from 0, not {number}")
    return likelihood, scores, _boolean("eligible", eligible, likelihood), gold


def _tensor(name: str, values: Any) -> Tensor:
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"{name} must be a tensor: {error}") from None


def _floating(name: str, values: Any) -> Tensor:
    tensor = _tensor(name, values)
    if not tensor.is_floating_point():
        raise ArgumentError(f"{name} must hold floating-point numbers, not {tensor.dtype}")
    return tensor


def _boolean(name: str, values: Any, like: Tensor) -> Tensor:
    if values is None:
        return torch.ones_like(like, dtype=torch.bool)
    tensor = _tensor(name, values)
    if tensor.dtype != torch.bool or tensor.shape != like.shape:
        raise ArgumentError(
            f"{name} must be boolean, {list(like.shape)}, not {tensor.dtype}, {list(tensor.shape)}"
        )
    return tensor.to(like.device)
