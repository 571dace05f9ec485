"""Helpers of messages."""

from brido.errors import some


def test_some_names_the_first_few():
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c"], 2) == "a, b, ..."
    assert some([]) == ""
