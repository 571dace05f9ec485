"""Arguments of public functions: shapes, NaN, alpha and choices; what does not fit is refused."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.utils.errors import ArgumentError, quoted


def as_texts(name: str, texts: Any) -> Sequence[str]:
    """Any ordered collection of texts: a list, a tuple, an array or a column.

    Raises:
        ArgumentError: it is one text (whose letters would be texts), or an item is not a text.
    """
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
    """A real number or infinity; raises ArgumentError for a text, NaN or an array."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise ArgumentError(f"{name} must be a number, not {quoted(value)}")
    return number


def check_finite(name: str, value: Any) -> None:
    """Raise ArgumentError for anything but a finite number."""
    if not math.isfinite(as_number(name, value)):
        raise ArgumentError(f"{name} must be finite, not {value}")


def as_alpha(value: Any) -> float:
    """The weight of the reference as a number from 0, infinity included.

    The texts `inf` and `.inf` are infinity, as DVC and YAML write it.
    """
    if isinstance(value, str) and value.strip().lower().lstrip("+") in {"inf", ".inf"}:
        return math.inf
    if isinstance(value, bool) or as_number("alpha", value) < 0:
        raise ArgumentError(
            f"alpha must be a number from 0, or inf for the reference alone, not {quoted(value)}"
        )
    return float(value)


def listing_alphas(size: int) -> set[float]:
    """The alphas that normalization `listing` is defined for, with N candidates."""
    return {0, 1, size - 1, math.inf}


def as_vote(similarity: Any, alpha: Any, normalization: str) -> tuple[NDArray[Any], float]:
    """Similarities and alpha for Eq. 2. Raise ArgumentError as `consensus_scores` says."""
    similarity, alpha = as_numbers("similarity", similarity, "[..., N, N + 1]"), as_alpha(alpha)
    check_choices({"normalization": (normalization, ("equation", "listing"))})
    if similarity.ndim < 2 or similarity.shape[-1] != similarity.shape[-2] + 1:
        raise ArgumentError(
            "similarity must be [..., N, N + 1], the reference's column last, as similarity_matrix "
            f"makes it, not {list(similarity.shape)}"
        )
    size = similarity.shape[-2]
    # The diagonal is ignored, and NaN with the reference says that there is none.
    numbers = np.isfinite(similarity) | np.eye(size, size + 1, dtype=bool)
    numbers[..., -1] |= np.isnan(similarity[..., -1])
    if not numbers.all():
        place = np.argwhere(~numbers.all(-1))[0].tolist()
        raise ArgumentError(f"similarity of candidate {place} contains NaN or infinity")
    if size == 1 and alpha == 0:
        raise ArgumentError("one candidate cannot vote at alpha = 0: give N > 1 or alpha > 0")
    if normalization == "listing" and alpha not in listing_alphas(size):
        raise ArgumentError(
            f"normalization `listing` is defined for alpha 0, 1, N - 1 (here {size - 1}) and inf, "
            f"not {alpha}: use normalization `equation`"
        )
    return similarity, alpha


def as_flags(scores: NDArray[np.floating], **flags: Any) -> list[NDArray[np.bool_]]:
    """Flags as bool [D, N]. Raise ArgumentError if they or the scores have another shape."""
    arrays = [as_numbers(name, values, "[D, N]").astype(bool) for name, values in flags.items()]
    if scores.ndim != 2 or any(values.shape != scores.shape for values in arrays):
        shapes = (f"{name} {list(own.shape)}" for name, own in zip(flags, arrays, strict=True))
        raise ArgumentError(
            f"{' and '.join(shapes)} must be [D, N], as the scores {list(scores.shape)} are"
        )
    return arrays


def check_choices(choices: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
    """Raise ArgumentError if the choice of a name is not one of those known."""
    for name, (choice, known) in choices.items():
        if choice not in known:
            raise ArgumentError(f"unknown {name} {quoted(choice)}: choose from {', '.join(known)}")
