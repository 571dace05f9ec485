"""Sections pairwise and scoring: how candidates are compared, and what their score is made of."""

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from brido.settings.base import Section, Share


def _infinity(value: Any) -> Any:
    """Accept infinity as DVC and YAML write it: the number, or the text inf or .inf."""
    if isinstance(value, str):
        if value.strip().lower() in {"inf", ".inf", "+inf", "+.inf"}:
            return math.inf
        raise ValueError("must be a number of at least 0, or inf for the reference alone (BRIO)")
    return value


Alpha = Annotated[float, Field(ge=0, allow_inf_nan=True), BeforeValidator(_infinity)]


class PairwiseSettings(Section):
    """`pairwise`: R(x, y), the similarity of a pair."""

    combination: Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"] = "harmonic_r1_r2"
    implementation: Literal["rouge_score", "pltrdy"] = "rouge_score"
    use_stemmer: bool = True


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote."""

    alpha: Alpha = 0.0
    normalization: Literal["equation", "listing"] = "equation"
    shuffle: bool = False
    support_weight: Share = 0.0
    unit: Literal["summary", "sentence"] = "summary"
