"""The document that the page opens on: a minority voted out, found by an exact rule."""

from math import nan

from report_cases import made_case

from brido.checkers.mentions import Mention
from brido.report.page.content import first_document
from brido.report.page.data import Shown

RIGHT, WRONG = [Mention("town", "x", True, 0, 1)], [Mention("town", "x", False, 0, 1)]


SCORES = [0.9, 0.5, 0.4, 0.3, 0.2]


def shown(wrong, own, scores=SCORES):
    """A document with candidates, of which those in `wrong` are unsupported, and base's summary."""
    candidates = [WRONG if place in wrong else RIGHT for place in range(5)]
    return Shown(made_case(scores), candidates, {"base": WRONG if own else RIGHT})


def test_it_shows_a_minority_voted_out_that_base_belongs_to():
    found = [
        shown({0}, True),  # voted in
        shown({1, 2, 3}, True),  # a majority
        shown(set(), True),  # nobody
        shown({1}, False),  # base's own summary is supported
        shown({1}, True),
        shown({4}, True),  # the widest gap
    ]
    assert first_document(found) == 5
    assert first_document(found[:5]) == 4
    assert first_document(found[:4]) == 3
    # Where no document shows it, and among equals, the first.
    assert first_document(found[:3]) == 0
    assert first_document([found[0], found[4], found[4]]) == 1


def test_who_cannot_be_elected_is_neither_first_nor_a_minority():
    # The second now wins; of the four that are left, two would be no minority.
    for wrong, place in (({0}, 0), ({3, 4}, 0), ({0, 4}, 1)):
        out = shown(wrong, True, [nan, *SCORES[1:]])
        assert first_document([shown({0}, True), out]) == place
