"""Draw tokens from probabilities: by temperature, top_k, top_p and min_p, without sorting them all.

What a rule leaves of a row is the first so many tokens in order, the most probable first, so its
sum says which. To sort a vocabulary costs more than a step of a small model, so the tokens that may
be left are added up in buckets by size, and only the bucket where a sum ends is sorted. In float64
such sums of float32 numbers from 2**-29 on are exact, whatever their order.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from brido.search.settings import TruncationSettings

# Of one bucket: all probabilities with the same exponent and the same first 5 bits of the fraction,
# which differ by 3 % at most. The bucket of 1 is the first.
SHIFT = 18
BUCKETS = (127 << 23 >> SHIFT) + 1


def draw(logits: Tensor, settings: TruncationSettings, uniforms: Tensor) -> Tensor:
    """One token a row of logits [R, V], drawn from those that the settings leave.

    uniforms: [R] in [0, 1); equal numbers draw equal tokens. What is left is what transformers'
    warpers leave, in their order: temperature, top_k, top_p, min_p. On a processor the logits are
    lost: more memory would cost more time than the sums.
    """
    if settings.temperature != 1:
        logits = logits / settings.temperature
    out = logits if logits.device.type == "cpu" else None
    return draw_from(torch.softmax(logits, -1, out=out), settings, uniforms)


def draw_from(probabilities: Tensor, settings: TruncationSettings, uniforms: Tensor) -> Tensor:
    """`draw` without temperature, from probabilities [R, V].

    (top_k: Fan et al., 2018; top_p: Holtzman et al., 2020; min_p: Nguyen et al., 2025.)
    """
    uniforms, top_k, top_p = uniforms[:, None], settings.top_k, settings.top_p
    if not (top_k or top_p < 1 or settings.min_p):  # no order is needed
        sums = probabilities.double().cumsum(1)
        return _place(sums, uniforms * sums[:, -1:], True)[:, 0]
    size = probabilities.shape[1]
    floor = settings.min_p * probabilities.amax(1, keepdim=True).double()
    if top_k:
        least = probabilities.topk(min(top_k, size)).values[:, -1:]
    elif settings.min_p:
        least = floor
    else:  # what is less likely than half the average matters to few rows
        likely = F.threshold(probabilities, 0.5 / size, 0.0).sum(1, keepdim=True)
        least = torch.where(likely > top_p + 1e-5, 0.5 / size, 0.0)
    order = _Descending(probabilities, least.to(probabilities.dtype))
    kept = order.sums[:, -1:]
    if top_p < 1:
        _, kept = order.reach(top_p * (kept if top_k else torch.ones_like(kept)))
    if settings.min_p:
        kept = kept.minimum(order.sum_from(floor))
    return order.reach(uniforms * kept, beyond=True)[0]


class _Descending:
    """Rows of probabilities [R, V] of `least` [R, 1] or more in order, of equal ones the first.

    rows, columns, values, buckets: [n] of all of them. sums: [R, BUCKETS], up to each bucket's end.
    """

    def __init__(self, probabilities: Tensor, least: Tensor) -> None:
        count, size = probabilities.shape
        found = (probabilities >= least).flatten().nonzero()[:, 0]
        self.rows = found.div(size, rounding_mode="floor")
        self.columns = found - self.rows * size
        values = probabilities.flatten()[found]
        self.values = values.double()
        self.buckets = BUCKETS - 1 - (values.float().view(torch.int32) >> SHIFT)
        places = self.rows * BUCKETS + self.buckets
        self.masses = places.bincount(self.values, count * BUCKETS).view(count, BUCKETS)
        self.sums = self.masses.cumsum(1)

    def reach(self, target: Tensor, beyond: bool = False) -> tuple[Tensor, Tensor]:
        """The column [R] with which the sum in order is `target` [R, 1], and that sum [R, 1].

        beyond: more than that. The last column where it never is.
        """
        bucket = _place(self.sums, target, beyond)
        inside = (self.buckets == bucket[:, 0].int()[self.rows]).nonzero()[:, 0]
        rows = self.rows[inside]
        counts = rows.bincount(minlength=len(bucket))
        places = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows]
        # One column at least: a row of NaN has none.
        values = self.values.new_zeros(len(bucket), max(1, int(counts.max())))
        columns = torch.zeros_like(values, dtype=torch.long)
        values[rows, places], columns[rows, places] = self.values[inside], self.columns[inside]
        values, order = values.sort(dim=1, descending=True, stable=True)
        before = self.sums.gather(1, bucket) - self.masses.gather(1, bucket)
        sums = before + values.cumsum(1)
        place = _place(sums, target, beyond)
        return columns.gather(1, order.gather(1, place))[:, 0], sums.gather(1, place)

    def sum_from(self, least: Tensor) -> Tensor:
        """The sum [R, 1] of what is `least` [R, 1] or more."""
        values = torch.where(self.values >= least[:, 0][self.rows], self.values, 0.0)
        return self.rows.bincount(values, len(least))[:, None]


def _place(sums: Tensor, target: Tensor, beyond: bool) -> Tensor:
    """The first place [R, 1] where sums [R, L] are `target` [R, 1], or beyond it.

    Where they never are, by rounding perhaps, the one that completes them: no weight of 0. Of NaN
    the last.
    """
    complete = torch.searchsorted(sums, sums[:, -1:].contiguous()).clamp(max=sums.shape[1] - 1)
    return torch.searchsorted(sums, target, right=beyond).minimum(complete)
