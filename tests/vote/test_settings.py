"""Which settings of the similarity and of the vote fit together, and which are refused."""

import pytest

from brido.vote.settings import ScoringSettings


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


def test_listing_is_defined_for_its_alphas_alone():
    for alpha, sizes in ((0.0, {7, 8}), (1.0, {7, 8}), (7.0, {8}), (2.5, set())):
        listing = ScoringSettings(alpha=alpha, normalization="listing")
        assert {size for size in (7, 8) if listing.is_defined(size)} == sizes
        assert ScoringSettings(alpha=alpha).is_defined(7)
