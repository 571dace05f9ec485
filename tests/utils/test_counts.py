"""Numbers of strangers: a count, or None."""

import pytest

from brido.utils.json_lines import count_of

NONE = [None, True, -1, 1.5, "nan", "inf", "", "many", [1], {}, 2**53 + 2, 10**400, "1e400", -0.5]


@pytest.mark.parametrize("value", NONE, ids=repr)
def test_what_is_not_a_count(value):
    assert count_of(value) is None


@pytest.mark.parametrize(("value", "count"), [(0, 0), (7, 7), (7.0, 7), ("7", 7), (2**53, 2**53)])
def test_what_is_a_count(value, count):
    assert count_of(value) == count
