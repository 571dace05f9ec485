"""Arguments of public functions: shapes, NaN, alpha and choices; what does not fit is refused."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from brido.utils.errors import ArgumentError, quoted

# The rules by which candidates are cleaned; `brido.candidates.cleaning` has them.
CleaningRule = Literal[
    "think", "refusal", "tokens", "frame", "markdown", "preamble", "label", "quotes"
]
CLEANING_RULES: tuple[CleaningRule, ...] = get_args(CleaningRule)


def as_texts(name: str, texts: Any) -> Sequence[str]:
    """Texts in order. Raise ArgumentError for one text, whose letters would be texts, or others."""
    texts = as_list(name, texts, "a list of texts")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentError(f"{name}[{index}] is {quoted(text)}, not a text")
    return texts


def as_list(name: str, items: Any, wanted: str) -> Sequence[Any]:
    """An ordered collection as a list or tuple; wanted: what the message says that it must be."""
    check_ordered(name, items, wanted)
    return items if isinstance(items, list | tuple) else list(items)


def check_ordered(name: str, items: Any, wanted: str) -> None:
    """Raise ArgumentError for one text, a mapping or a set; nothing of a stream is read."""
    if isinstance(items, str | bytes | Mapping | Set) or not isinstance(items, Iterable):
        raise ArgumentError(f"{name} must be {wanted}, not {quoted(items)}")


def as_numbers(name: str, values: Any, shape: str) -> NDArray[Any]:
    """An array of real numbers, out of lists and of tensors on any device too.

    shape: what the message says that it must be, such as `[..., N, N + 1]`.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise ValueError(quoted(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"{name} must be an array {shape} of numbers: {error}") from None
    return array


def as_number(name: str, value: Any) -> float:
    """A number or infinity; raises ArgumentError for a text, NaN or an array."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise ArgumentError(f"{name} must be a number, not {quoted(value)}")
    return number


def as_alpha(value: Any) -> float:
    """The reference's weight from 0; the texts `inf` and `.inf` of DVC and YAML are infinity."""
    is_text = isinstance(value, str) and value.strip().lower().lstrip("+") in {"inf", ".inf"}
    number = math.inf if is_text else value
    if isinstance(value, bool) or as_number("alpha", number) < 0:
        raise ArgumentError(
            f"alpha must be a number from 0, or inf for the reference alone, not {quoted(value)}"
        )
    return float(number)


def listing_alphas(size: int) -> set[float]:
    """The alphas that normalization `listing` is defined for, with N candidates."""
    return {0, 1, size - 1, math.inf}


def check_choices(choices: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
    """Raise ArgumentError if the choice of a name is not one of those known."""
    for name, (choice, known) in choices.items():
        if choice not in known:
            raise ArgumentError(f"unknown {name} {quoted(choice)}: choose from {', '.join(known)}")
