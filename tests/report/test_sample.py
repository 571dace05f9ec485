"""The document that the page opens on: a minority voted out, found by an exact rule."""

from math import nan

from report_cases import made_case

from brido.checkers.mentions import Mention
from brido.report.page.content import first_document
from brido.report.page.data import CaseMentions

RIGHT, WRONG = [Mention("town", "x", True, 0, 1)], [Mention("town", "x", False, 0, 1)]


def mentions(wrong, own):
    """The mentions of candidates, of which those in `wrong` are unsupported, and of base's."""
    candidates = [WRONG if place in wrong else RIGHT for place in range(5)]
    return CaseMentions(candidates, {"base": WRONG if own else RIGHT})


SCORES = [0.9, 0.5, 0.4, 0.3, 0.2]


def test_it_shows_a_minority_voted_out_that_base_belongs_to():
    cases = [made_case(SCORES)] * 6
    found = [
        mentions({0}, True),  # voted in
        mentions({1, 2, 3}, True),  # a majority
        mentions(set(), True),  # nobody
        mentions({1}, False),  # base's own summary is supported
        mentions({1}, True),
        mentions({4}, True),  # the widest gap
    ]
    assert first_document(cases, found) == 5
    without_base = [CaseMentions(each.candidates, {}) for each in found]
    assert first_document(cases, without_base) == 5
    assert first_document(cases[:5], found[:5]) == 4
    assert first_document(cases[:4], found[:4]) == 3
    # Where no document shows it, and among equals, the first.
    assert first_document(cases[:3], found[:3]) == 0
    assert first_document(cases[:3], [found[0], found[4], found[4]]) == 1


def test_who_cannot_be_elected_is_neither_first_nor_a_minority():
    first_out = made_case([nan, *SCORES[1:]])
    # The second now wins; of the four that are left, two would be no minority.
    assert first_document([made_case(SCORES), first_out], [mentions({0}, True)] * 2) == 0
    two = [mentions({0}, True), mentions({3, 4}, True)]
    assert first_document([made_case(SCORES), first_out], two) == 0
    one = [mentions({0}, True), mentions({0, 4}, True)]
    assert first_document([made_case(SCORES), first_out], one) == 1
