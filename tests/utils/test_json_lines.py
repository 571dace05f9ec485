"""What strangers write in JSON lines: keys that occur twice, and numbers that are counts."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.utils.errors import BridoError
from brido.utils.files import input_lines
from brido.utils.json_lines import Repeating, count_of, fault_of, kind, parse_object, read_objects

KEYS = st.text("ab\ud800", max_size=2)
PAIRS = st.lists(st.tuples(KEYS, st.integers(0, 3) | st.dictionaries(KEYS, st.integers(0, 3))))


@given(PAIRS, st.booleans())
def test_an_object_has_its_last_values_and_tells_which_keys_occur_twice(pairs, finite):
    text = Repeating(pairs).text()
    found = parse_object(text, finite)
    assert found == json.loads(text)
    names = [name for name, _ in pairs]
    repeated = len(set(names)) < len(names)
    assert isinstance(found, Repeating) == repeated
    if repeated:
        assert found.pairs == pairs
        assert fault_of(found).startswith("a key occurs twice (")


@pytest.mark.parametrize(
    "text", ['[{"id": 1, "id": 2}, {"id": 3}]', '{"id": 1, "id": 2}\n{"id": 3}']
)
def test_readers_of_lines_name_it(tmp_path, text):
    path = tmp_path / "rows.json"
    path.write_text(text)
    with input_lines(str(path)) as lines:
        assert list(read_objects(lines)) == [(1, {}, "a key occurs twice (id)"), (2, {"id": 3}, "")]


def test_a_fault_is_placed_in_its_line_and_a_spread_texts_by_its_own_lines():
    (_, _, fault), *_ = read_objects([b'{"id":\n'])
    assert fault == "not JSON (Expecting value: column 7)"
    with pytest.raises(BridoError, match="line 2 column 1 "):
        parse_object("{\n]\n}")


def test_what_a_value_is_in_words():
    values = ["", True, [], Repeating([]), 1, 1.5, None, b"", datetime.date(2024, 1, 2)]
    assert [kind(value) for value in values] == [
        "a text", "true or false", "a list", "an object", "a number", "a number", "null",
        "bytes", "of type date",
    ]  # fmt: skip


NONE = [None, True, -1, 1.5, "nan", "inf", "", "many", [1], {}, 2**53 + 2, 10**400, "1e400", -0.5]


@pytest.mark.parametrize("value", NONE, ids=repr)
def test_what_is_not_a_count(value):
    assert count_of(value) is None


@pytest.mark.parametrize(("value", "count"), [(0, 0), (7, 7), (7.0, 7), ("7", 7), (2**53, 2**53)])
def test_what_is_a_count(value, count):
    assert count_of(value) == count
