"""Sections pairwise and scoring: how candidates are compared, and what their score is made of."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from brido.settings.base import Section, Share
from brido.utils.arguments import as_alpha, listing_alphas

Alpha = Annotated[float, Field(allow_inf_nan=True), BeforeValidator(as_alpha)]


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

    def is_defined(self, num_candidates: int) -> bool:
        """Whether the normalization is defined for this alpha and N candidates."""
        return self.normalization != "listing" or self.alpha in listing_alphas(num_candidates)
