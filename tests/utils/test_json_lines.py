"""What strangers write in JSON: rows that are refused, and what values are."""

import pytest

from brido.utils.errors import BridoError
from brido.utils.json_lines import parse_row
from brido.utils.outputs import json_line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": 1, "id": 2}', "'id' occurs twice"),
        ('{"a": [{"b": 1, "b": 1}]}', "'b' occurs twice"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ("[1]", "a list"),
        ('{"id":', "not JSON"),
        ('{"id": 1} {"id": 2}', "one object a line"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_row_that_is_refused(line, said):
    with pytest.raises(BridoError, match=said):
        parse_row(line)


def test_bytes_are_no_text_of_a_line():
    with pytest.raises(BridoError, match="bytes"):
        json_line({"picture": b"PNG"})
