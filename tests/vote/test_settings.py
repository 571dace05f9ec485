"""Which settings of the similarity and of the vote fit together, and which are refused."""

import pytest
from pydantic import ValidationError

from brido.vote.settings import PairwiseSettings, ScoringSettings


@pytest.mark.parametrize(
    ("implementation", "tokenizer"),
    [("rouge_score", "rouge_score"), ("rouge_score", "unicode"), ("pltrdy", "rouge_score")],
)
def test_an_implementation_has_its_tokenizers(implementation, tokenizer):
    settings = PairwiseSettings(implementation=implementation, tokenizer=tokenizer)
    assert (settings.implementation, settings.tokenizer) == (implementation, tokenizer)


def test_pltrdy_has_no_words_of_any_script():
    with pytest.raises(ValidationError, match=r"tokenizer: unicode .* rouge_score"):
        PairwiseSettings(implementation="pltrdy", tokenizer="unicode")


@pytest.mark.parametrize(
    ("support", "information", "shares"),
    [
        (0.0, 0.0, {"vote": 1.0}),
        (0.25, 0.5, {"vote": 0.25, "support": 0.25, "information": 0.5}),
        (0.5, 0.5, {"support": 0.5, "information": 0.5}),
        # 1 - 0.7 - 0.3 and 1 - 0.8 - 0.2 are hairs above and below 0.
        (0.7, 0.3, {"support": 0.7, "information": 0.3}),
        (0.8, 0.2, {"support": 0.8, "information": 0.2}),
    ],
)
def test_the_vote_has_the_rest_of_the_shares(support, information, shares):
    assert ScoringSettings(support=support, information=information).shares == shares


@pytest.mark.parametrize(("support", "information"), [(0.75, 0.5), (0.5, 0.75), (0.5, 0.501)])
def test_shares_of_more_than_one_order_are_refused(support, information):
    with pytest.raises(ValidationError, match=rf"support \({support}\) .* \({information}\)"):
        ScoringSettings(support=support, information=information)


def test_listing_is_defined_for_its_alphas_alone():
    for alpha, sizes in ((0.0, {7, 8}), (1.0, {7, 8}), (7.0, {8}), (2.5, set())):
        listing = ScoringSettings(alpha=alpha, normalization="listing")
        assert {size for size in (7, 8) if listing.is_defined(size)} == sizes
        assert ScoringSettings(alpha=alpha).is_defined(7)
