"""What callers hand to the losses over candidates, checked; ArgumentError as each loss says."""

import math
from typing import Any

import torch
from torch import Tensor

from brido.utils.arguments import as_number
from brido.utils.errors import ArgumentError


def candidate_tensors(
    log_likelihood: Any, eligible: Any, **others: Any
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Likelihoods, eligible, and other numbers of candidates, all [B, N] and on one device."""
    named = {"log_likelihood": log_likelihood} | others
    tensors = {name: _floating(name, values) for name, values in named.items()}
    likelihood = tensors["log_likelihood"]
    if likelihood.ndim != 2 or any(values.shape != likelihood.shape for values in tensors.values()):
        raise ArgumentError(
            f"{' and '.join(tensors)} must be [documents, candidates], all alike, not "
            f"{' and '.join(str(list(values.shape)) for values in tensors.values())}"
        )
    if not likelihood.numel():
        raise ArgumentError(
            f"log_likelihood is empty, {list(likelihood.shape)}: at least one document and one "
            "candidate are needed"
        )
    further = [tensors[name].to(likelihood.device) for name in others]
    return likelihood, _boolean("eligible", eligible, likelihood), further


def gold_tensor(gold: Any, weight: float, likelihood: Tensor) -> Tensor | None:
    """The references' likelihoods [B]; None if they have no weight."""
    if gold is None:
        if weight:
            raise ArgumentError("gold_weight needs gold_log_likelihood")
        return None
    gold = _floating("gold_log_likelihood", gold)
    if gold.shape != likelihood.shape[:1]:
        raise ArgumentError(
            f"gold_log_likelihood must be [{likelihood.shape[0]}], not {list(gold.shape)}"
        )
    return gold.to(likelihood.device) if weight else None


def check_finite_tensors(**tensors: Tensor | None) -> None:
    """Raise ArgumentError for NaN and infinity. It waits for an accelerator's numbers, once."""
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    finite = torch.stack([tensor.isfinite().all() for tensor in given.values()]).tolist()
    for (name, tensor), fine in zip(given.items(), finite, strict=True):
        if not fine:
            place = (~tensor.isfinite()).nonzero()[0].tolist()
            raise ArgumentError(
                f"{name} contains NaN or infinity: {place} is {tensor[tuple(place)].item()}"
            )


def check_not_negative(**numbers: Any) -> None:
    """Raise ArgumentError for anything but finite numbers from 0."""
    for name, number in numbers.items():
        if not 0 <= as_number(name, number) < math.inf:
            raise ArgumentError(f"{name} must be a finite number from 0, not {number}")


def check_positive(**numbers: Any) -> None:
    """Raise ArgumentError for anything but finite numbers above 0."""
    for name, number in numbers.items():
        if not 0 < as_number(name, number) < math.inf:
            raise ArgumentError(f"{name} must be a finite number above 0, not {number}")


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
