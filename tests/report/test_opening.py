"""The document that the page opens on: a minority voted out, found by an exact rule."""

import numpy as np

from brido.report.mention_finder import CaseMentions
from brido.report.opening import opening
from brido.report.validation import Case
from brido.report.votes import Mention

RIGHT, WRONG = [Mention(0, 1, "town", True)], [Mention(0, 1, "town", False)]


def case(agreements, eligible=None):
    """A document whose candidates' scores at alpha 0 are `agreements`."""
    count = len(agreements)
    matrix = np.zeros((count, count + 1), np.float32)
    matrix[:, :count] = np.array(agreements, np.float32)[:, None]
    eligible = [True] * count if eligible is None else eligible
    return Case("x", "", [], None, {}, [""] * count, matrix, ["base"] * count, eligible, eligible)


def mentions(wrong, own):
    """The mentions of candidates, of which those in `wrong` are unsupported, and of base's."""
    candidates = [WRONG if place in wrong else RIGHT for place in range(5)]
    return CaseMentions(candidates, {"base": WRONG if own else RIGHT})


SCORES = [0.9, 0.5, 0.4, 0.3, 0.2]


def test_it_shows_a_minority_voted_out_that_base_belongs_to():
    cases = [case(SCORES)] * 6
    found = [
        mentions({0}, True),  # voted in
        mentions({1, 2, 3}, True),  # a majority
        mentions(set(), True),  # nobody
        mentions({1}, False),  # base's own summary is supported
        mentions({1}, True),
        mentions({4}, True),  # the widest gap
    ]
    assert opening(cases, found, "base", 0.0) == 5
    assert opening(cases, found, "nobody", 0.0) == 5
    assert opening(cases[:5], found[:5], "base", 0.0) == 4
    assert opening(cases[:4], found[:4], "base", 0.0) == 3
    # Where no document shows it, and among equals, the first.
    assert opening(cases[:3], found[:3], "base", 0.0) == 0
    assert opening(cases[:3], [found[0], found[4], found[4]], "base", 0.0) == 1


def test_who_cannot_be_elected_is_neither_first_nor_a_minority():
    first_out = case(SCORES, [False, True, True, True, True])
    # The second now wins; of the four that are left, two would be no minority.
    assert opening([case(SCORES), first_out], [mentions({0}, True)] * 2, "base", 0.0) == 0
    two = [mentions({0}, True), mentions({3, 4}, True)]
    assert opening([case(SCORES), first_out], two, "base", 0.0) == 0
    one = [mentions({0}, True), mentions({0, 4}, True)]
    assert opening([case(SCORES), first_out], one, "base", 0.0) == 1
