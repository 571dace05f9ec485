"""Blocks of documents that lend each other their sources, and the rows that come of them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.blocks import WINDOW, blocks, in_windows, too_few, whole_windows, windows
from brido.tables.walk import Part
from brido.utils.errors import BridoError


def ids_of(count):
    return [f"d{number}" for number in range(count)]


@given(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_every_document_has_others_that_are_not_like_it(texts, others, seed):
    ids = ids_of(len(texts))
    if len(set(texts)) <= others:
        with pytest.raises(BridoError, match=r"likelihood.others"):
            blocks(ids, texts, others, seed)
        return
    found = blocks(ids, texts, others, seed)
    scored = Counter(place for block in found for place in block.members[: block.scored])
    assert scored == Counter(range(len(texts)))
    for block in found:
        assert len(block.members) == others + 1
        assert len({texts[place] for place in block.members}) == others + 1
    if len(set(texts)) == len(texts):
        # No more sources are read than need be.
        assert len(found) == -(-len(texts) // (others + 1))


def test_the_seed_and_the_ids_decide_and_white_space_makes_no_other_text():
    texts = [f"text {number}" for number in range(30)]
    first = blocks(ids_of(30), texts, 2, 0)
    assert blocks(ids_of(30), texts, 2, 0) == first
    assert blocks(ids_of(30), texts, 2, 1) != first
    assert any(abs(a - b) > 5 for a, b, _ in (block.members for block in first))
    with pytest.raises(BridoError, match="2 different texts"):
        blocks(ids_of(3), ["a b", "a  b\n", "c"], 2, 0)
    assert "2 documents" in too_few(["a", "b"], 2)


def test_a_block_that_is_filled_up_takes_no_text_twice():
    """A block of one "a" lacks two members, and the next documents may both be "b"."""
    texts = ["a", "a", "a", "b", "b", "c"]
    for seed in range(24):
        for block in blocks(ids_of(6), texts, 2, seed):
            assert sorted(texts[place] for place in block.members) == ["a", "b", "c"]


@pytest.mark.parametrize("count", [1, 99, 100, 101, 199, 250, 405])
@pytest.mark.parametrize("size", [1, 100, 250])
def test_parts_hold_whole_windows_so_shards_of_any_size_have_the_same_rows(count, size):
    texts = [f"text {number}" for number in range(count)]
    step = in_windows(size)
    starts = range(0, count, step)
    parts = [Part(range(a, min(a + step, count)), range(a, min(a + step, count))) for a in starts]
    found = whole_windows(parts)
    assert [place for part in found for place in part.rows] == list(range(count))
    places = [place for window in windows(count) for place in window]
    assert places == list(range(count))
    assert all(WINDOW <= len(window) < 2 * WINDOW for window in windows(count)) or count < WINDOW
    if count < 2:
        return
    whole = {members for members, _ in blocks(ids_of(count), texts, 1, 0)}
    of_parts = set()
    for part in found:
        ids = [f"d{place}" for place in part.rows]
        own = blocks(ids, [texts[place] for place in part.rows], 1, 0)
        of_parts |= {tuple(part.rows[place] for place in members) for members, _ in own}
    assert of_parts == whole
