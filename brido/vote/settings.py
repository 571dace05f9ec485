"""Sections pairwise, likelihood and scoring: what a candidate's score is made of."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from brido.settings.base import Count, Section, Share
from brido.utils.arguments import as_alpha, listing_alphas

Alpha = Annotated[float, Field(allow_inf_nan=True), BeforeValidator(as_alpha)]


class PairwiseSettings(Section):
    """`pairwise`: R(x, y), the similarity of a pair."""

    combination: Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"] = "harmonic_r1_r2"
    implementation: Literal["rouge_score", "pltrdy"] = "rouge_score"
    use_stemmer: bool = True


class LikelihoodSettings(Section):
    """`likelihood`: how likely candidates are, with their own document and with others."""

    others: Count = 4
    seed: Count = 0


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote, and the signals that may order the candidates beside it."""

    alpha: Alpha = 0.0
    normalization: Literal["equation", "listing"] = "equation"
    support: Share = 0.0
    information: Share = 0.0
    prior: Share = 0.2
    shuffle: bool = False
    unit: Literal["summary", "sentence"] = "summary"

    def problems(self) -> Iterator[str]:
        """The weights of the signals are shares of one order."""
        if self.support + self.information > 1 + 1e-9:
            yield (
                f"support ({self.support:g}) and information ({self.information:g}) are shares of "
                "one score: together at most 1; what is left is the vote's"
            )

    def is_defined(self, num_candidates: int) -> bool:
        """Whether the normalization is defined for this alpha and N candidates."""
        return self.normalization != "listing" or self.alpha in listing_alphas(num_candidates)
