"""Linear layers whose products oneDNN computes, in models that are used and that are trained.

On a processor PyTorch multiplies float32 matrices with MKL, which reaches half of oneDNN's speed on
AMD's processors. Those in bfloat16 go to oneDNN anyway, but there every product lays the weights
out anew, a third of its time (benchmarks/RESULTS.md). PyTorch's public ways to keep them so either
copy every input (`torch.utils.mkldnn`) or need a C++ compiler (`torch.compile`). So the operator
that the latter emits is called here, if it is there and computes right, and nothing changes where
it does not. Weights that only read and write are laid out once (`lay_out_layers`), but not the
output layer's: embeddings and likelihoods read them too, and in a small model they are the largest.
Those that are trained change with every update, and stay as they are (`faster_training`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Smaller layers gain only with hundreds of rows, and lose with a few.
LEAST = 192
# A product of fewer rows costs less with its factors exchanged: oneDNN lays the second one out.
FEW_ROWS = 32
DTYPES = torch.float32, torch.bfloat16
_PROCESSOR = Path("/proc/cpuinfo")


class LaidOutLinear(torch.nn.Module):
    """A linear layer without gradients; its weights are held once, as oneDNN reads them.

    `weight` has their shape and type, but no values.
    """

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.matrix = laid_out(linear.weight.data)
        self.weight = linear.weight.data.to("meta")
        self.bias = linear.bias

    def forward(self, states: Tensor) -> Tensor:
        return _linear(states, self.matrix, self.bias)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        """What the plain layer saves: the layout loses nothing."""
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}weight"] = self.matrix.to_dense()


class FastLinear(torch.nn.Linear):
    """A linear layer whose product, and gradients, oneDNN computes from the plain weights."""

    def forward(self, states: Tensor) -> Tensor:
        if states.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
            return super().forward(states)
        if torch.is_grad_enabled():
            product: Tensor = _Product.apply(states, self.weight, self.bias)
            return product
        return linear(states.flatten(0, -2), self.weight, self.bias).unflatten(0, states.shape[:-1])


# Layers of which weight and bias are all that they do.
PLAIN = torch.nn.Linear, LaidOutLinear, FastLinear


@contextmanager
def faster_training(model: torch.nn.Module) -> Iterator[None]:
    """A block in which a model's large layers are `FastLinear`, if that is faster here.

    The layers stay the same objects with the same weights.
    """
    fit: Iterator[Any] = filter(_is_fit, model.modules())
    layers = [layer for layer in fit if _is_large(layer.weight, layer.weight)]
    for layer in layers:
        layer.__class__ = FastLinear
    try:
        yield
    finally:
        for layer in layers:
            layer.__class__ = torch.nn.Linear


class _Product(torch.autograd.Function):
    """states [..., inputs] @ weight.T + bias."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        # As a factor of the weight's gradient: oneDNN is slow where rows lie apart in memory.
        states = states.contiguous()
        # Each is kept for the other's gradient: beside frozen weights no states are.
        of_states, of_weight = ctx.needs_input_grad[:2]
        ctx.save_for_backward(states if of_weight else None, weight if of_states else None)
        return _linear(states, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        states, weight = ctx.saved_tensors
        rows = grad.reshape(-1, grad.shape[-1]).contiguous()
        grad_states = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_states = _linear(rows, weight.T, None).view(*grad.shape[:-1], weight.shape[1])
        if ctx.needs_input_grad[1]:
            grad_weight = _linear(rows.T, states.reshape(-1, states.shape[-1]).T, None)
        if ctx.needs_input_grad[2]:
            grad_bias = rows.sum(0)
        return grad_states, grad_weight, grad_bias


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """states [R, inputs] @ weight.T + bias, without gradients, by the faster way."""
    if not _is_large(states, weight):
        return functional.linear(states, weight, bias)
    if len(states) > FEW_ROWS or not weight.is_contiguous():
        return _linear(states, weight, bias)
    product = _linear(weight, states.contiguous(), None).T.contiguous()
    return product if bias is None else product.add_(bias)


def add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add left [M, K] @ right [K, N] to `total`, without gradients, by the faster way."""
    if total.dtype != left.dtype or _is_large(left, right.T):
        total += linear(left, right.T)
    else:
        total.addmm_(left, right)


def _is_large(states: Tensor, weight: Tensor) -> bool:
    """Whether a product is one that oneDNN computes faster from plain weights."""
    dense = weight.is_contiguous() or weight.T.is_contiguous()
    fit = states.is_cpu and states.dtype == torch.float32 and min(weight.shape) >= LEAST
    return fit and dense and is_faster(torch.float32)


def lay_out_layers(model: PreTrainedModel) -> bool:
    """Replace a model's large layers by `LaidOutLinear`, if that is faster here.

    Whether it is follows from the processor's maker and not from a timing, so that two runs on one
    machine give the same bytes. Returns whether the model has such layers, these or earlier ones.
    """
    if model.device.type != "cpu":
        return False
    outputs = model.get_output_embeddings()
    if _is_fit(outputs):
        outputs.__class__ = FastLinear
    # Modules that are used in several places are replaced in all of them by the same one.
    replaced: dict[torch.nn.Module, LaidOutLinear] = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if _is_fit(module):
            if module not in replaced:
                replaced[module] = LaidOutLinear(module)
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, replaced[module])
    if replaced:
        _copy_loaded(model)
    return any(isinstance(module, LaidOutLinear | FastLinear) for module in model.modules())


def _copy_loaded(model: PreTrainedModel) -> None:
    """Loaded tensors are parts of a mapped file, which stays in memory for the last of them."""
    for parameter in model.parameters():
        parameter.data = parameter.data.clone()
    for module in model.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            setattr(module, name, buffer.clone())  # a view would go on holding what it views


def _is_fit(module: torch.nn.Module | None) -> bool:
    # Quantized layers and adapters are classes of their own.
    if type(module) is not torch.nn.Linear:
        return False
    return min(module.weight.shape) >= LEAST and is_faster(module.weight.dtype)


@cache
def is_faster(dtype: torch.dtype) -> bool:
    """Whether this processor is AMD's, and the operator is there and computes what it should."""
    if dtype not in DTYPES:
        return False
    try:
        text = _PROCESSOR.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        return False
    return "AuthenticAMD" in text and computes_right(dtype)


def computes_right(dtype: torch.dtype = torch.float32) -> bool:
    """Whether PyTorch's private operator exists and gives a product that is known."""
    weight = (torch.arange(35) % 6 - 2).view(5, 7)
    states, bias = (torch.arange(42) % 4).view(2, 3, 7), torch.arange(5)
    # Small whole numbers: exact in any order of summation.
    expected = (states @ weight.T + bias).to(dtype)
    weight, states, bias = (part.to(dtype) for part in (weight, states, bias))
    try:
        return torch.equal(_linear(states, laid_out(weight), bias), expected)
    except (AttributeError, RuntimeError, TypeError):  # another release of PyTorch, or its build
        return False


def laid_out(weight: Tensor) -> Tensor:
    """The matrix [outputs, inputs] as oneDNN lays it out; `to_dense` gives it back."""
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), None)


def _linear(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if not states.numel():
        return states.new_zeros(*states.shape[:-1], weight.shape[0])
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
