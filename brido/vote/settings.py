"""Sections pairwise, likelihood and scoring: what a candidate's score is made of."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from brido.utils.arguments import as_alpha, listing_alphas
from brido.utils.errors import close_to
from brido.utils.sections import Count, Exponent, Section, Share

Alpha = Annotated[float, Field(allow_inf_nan=True), BeforeValidator(as_alpha)]

# Another package brings a similarity by an entry point of this group, see docs/architecture.md.
SIMILARITIES = "brido.similarities"
OWN = ("harmonic_r1_r2", "mean_r1_r2_rlsum")


def _known(name: str) -> str:
    if name not in OWN and name not in (brought := entry_points(group=SIMILARITIES).names):
        raise ValueError(f"{name!r} is no similarity here{close_to(name, [*OWN, *brought])}")
    return name


class PairwiseSettings(Section):
    """`pairwise`: R(x, y), the similarity of a pair."""

    combination: Annotated[str, AfterValidator(_known)] = Field(
        "harmonic_r1_r2",
        description="Similarity of two texts: harmonic_r1_r2 (XSum) | mean_r1_r2_rlsum (CNN/DM). "
        "Another package may bring others.",
    )
    implementation: Literal["rouge_score", "pltrdy"] = Field(
        "rouge_score", description="ROUGE of rouge_score | pltrdy (the one that the paper names)."
    )
    use_stemmer: bool = Field(
        True, description='Whether "reports" matches "reported"; pltrdy has no stemmer.'
    )
    tokenizer: Literal["rouge_score", "unicode"] = Field(
        "rouge_score",
        description="rouge_score (words of a-z and 0-9) | unicode (words of any script).",
    )

    def problems(self) -> Iterator[str]:
        """pltrdy has words of its own."""
        if self.implementation == "pltrdy" and self.tokenizer != "rouge_score":
            yield "tokenizer: unicode needs implementation rouge_score; pltrdy has its own words"


class LikelihoodSettings(Section):
    """`likelihood`: how likely candidates are, with their own document and with others."""

    others: Count = Field(
        4, description="[K] other documents that candidates are scored with too; 0: none."
    )
    seed: Count = Field(0, description="Decides which other documents these are.")


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote, and the signals that may order the candidates beside it."""

    alpha: Alpha = Field(
        0.0,
        description="Weight of the reference in the vote: 0 none, N - 1 half, inf all (as in "
        "BRIO). N is the number of candidates.",
    )
    normalization: Literal["equation", "listing"] = Field(
        "equation",
        description="equation (Eq. 2) | listing (the paper's code: other scores at alpha N - 1).",
    )
    support: Share = Field(
        0.0,
        description="Weight of what the document supports, 0 to 1; the vote has the rest. Both are "
        "standardised within each document (section support is the checker).",
    )
    information: Share = Field(
        0.0,
        description="Weight of information in the order, 0 to 1; the vote has the rest. "
        "Information is what the document adds to a candidate: its log p, less "
        "`prior_weight` times its mean log p with other documents.",
    )
    prior_weight: Share = Field(
        0.0,
        description="Share of the log p with other documents that information takes away. At "
        "0 information is the likelihood, at 1 the pointwise mutual information.",
    )
    length_penalty: Exponent = Field(
        0.0,
        description="Exponent of the length that information is divided by: 0 a sum, 1 a mean. "
        "A sum prefers short candidates: where their lengths differ much, take 1.",
    )
    shuffle: bool = Field(
        False, description="true: the control, in which each document's scores are shuffled."
    )
    unit: Literal["summary", "sentence"] = Field(
        "summary",
        description="What is compared: summary | sentence (each with the best match in the "
        "other text).",
    )

    @property
    def shares(self) -> dict[str, float]:
        """What orders the candidates: the weight of each signal that has one, summing to 1."""
        vote = 1 - self.support - self.information
        # Shares such as .9 and .1 leave a hair.
        weights = {"vote": vote if vote > 1e-9 else 0.0}
        weights |= {"support": self.support, "information": self.information}
        return {name: weight for name, weight in weights.items() if weight}

    @property
    def asks_support(self) -> bool:
        """Whether the order needs the table of stage support."""
        return "support" in self.shares and not self.shuffle

    @property
    def asks_likelihood(self) -> bool:
        """Whether the order needs the table of stage likelihood."""
        return "information" in self.shares and not self.shuffle

    @property
    def asks_prior(self) -> bool:
        """Whether the order needs the candidates' log p with other documents."""
        return "information" in self.shares and self.prior_weight > 0 and not self.shuffle

    def problems(self) -> Iterator[str]:
        """The weights of the signals are shares of one order."""
        if self.support + self.information > 1 + 1e-9:
            yield (
                f"support ({self.support:g}) and information ({self.information:g}) are shares of "
                "one order, of which the vote has the rest: lower one, their sum is at most 1"
            )

    def is_defined(self, num_candidates: int) -> bool:
        """Whether the normalization is defined for this alpha and N candidates."""
        return self.normalization != "listing" or self.alpha in listing_alphas(num_candidates)
