"""Sections pairwise and scoring: how candidates are compared, and what their score is made of."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from brido.settings.base import Section, Share
from brido.utils.arguments import as_alpha, listing_alphas

Alpha = Annotated[float, Field(allow_inf_nan=True), BeforeValidator(as_alpha)]


class PairwiseSettings(Section):
    """`pairwise`: R(x, y), the similarity of a pair."""

    combination: Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"] = Field(
        "harmonic_r1_r2", description="harmonic_r1_r2 (XSum) | mean_r1_r2_rlsum (CNN/DM)."
    )
    implementation: Literal["rouge_score", "pltrdy"] = Field(
        "rouge_score", description="rouge_score | pltrdy (the one that the paper names)."
    )
    use_stemmer: bool = Field(True, description='Whether "reports" matches "reported".')


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote."""

    alpha: Alpha = Field(
        0.0, description="Weight of the reference: 0 candidates only, N-1 half, inf BRIO."
    )
    normalization: Literal["equation", "listing"] = Field(
        "equation",
        description="equation | listing (the paper's code: another scale at alpha = N-1).",
    )
    shuffle: bool = Field(False, description="true: the control, each document's scores shuffled.")
    support_weight: Share = Field(
        0.0,
        description=("Share of the support check in the score, as z-scores; ConSUM: 0.5."),
    )
    unit: Literal["summary", "sentence"] = Field(
        "summary", description="summary | sentence (each sentence is compared with its best match)."
    )

    def is_defined(self, num_candidates: int) -> bool:
        """Whether the normalization is defined for this alpha and N candidates."""
        return self.normalization != "listing" or self.alpha in listing_alphas(num_candidates)
