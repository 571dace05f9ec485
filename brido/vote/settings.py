"""Sections pairwise, likelihood and scoring: what a candidate's score is made of."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from brido.settings.base import Count, Section, Share
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


class LikelihoodSettings(Section):
    """`likelihood`: how likely candidates are, with their own document and with others."""

    others: Count = Field(
        4, description="[K] other documents that candidates are scored with too; 0: none."
    )
    seed: Count = Field(0, description="Decides which documents these are.")


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote, and the signals that may order the candidates beside it."""

    alpha: Alpha = Field(
        0.0, description="Weight of the reference: 0 candidates only, N-1 half, inf BRIO."
    )
    normalization: Literal["equation", "listing"] = Field(
        "equation",
        description="equation | listing (the paper's code: another scale at alpha = N-1).",
    )
    support: Share = Field(
        0.0, description="Share of the support check in the order, as z-scores; ConSUM: 0.5."
    )
    information: Share = Field(
        0.5, description="Share of information in the order: log p - prior * log p with others."
    )
    prior: Share = Field(
        0.0, description="How much of log p with others is taken away; 0: the likelihood alone."
    )
    shuffle: bool = Field(False, description="true: the control, each document's scores shuffled.")
    unit: Literal["summary", "sentence"] = Field(
        "summary", description="summary | sentence (each sentence is compared with its best match)."
    )

    def problems(self) -> Iterator[str]:
        """The weights of the signals are shares of one order."""
        if self.support + self.information > 1 + 1e-9:
            yield (
                f"support ({self.support:g}) and information ({self.information:g}) are shares of "
                "one order, so together they must be at most 1; the vote has the rest"
            )

    def is_defined(self, num_candidates: int) -> bool:
        """Whether the normalization is defined for this alpha and N candidates."""
        return self.normalization != "listing" or self.alpha in listing_alphas(num_candidates)
