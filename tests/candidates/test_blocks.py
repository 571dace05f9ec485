"""Blocks of documents that lend each other their sources, and the rows that come of them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.blocks import WINDOW, blocks, too_few, windows
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


@pytest.mark.parametrize("count", [1, 99, 100, 101, 199, 250, 405])
def test_blocks_stay_in_their_window_so_that_a_shard_may_be_one(count):
    texts, found = [f"text {number}" for number in range(count)], windows(count)
    assert [place for window in found for place in window] == list(range(count))
    assert all(WINDOW <= len(window) < 2 * WINDOW for window in found) or count < WINDOW
    if count < 2:
        return
    whole = {members for members, _ in blocks(ids_of(count), texts, 1, 0)}
    of_parts = set()
    for part in found:
        own = blocks([f"d{n}" for n in part], [texts[n] for n in part], 1, 0)
        of_parts |= {tuple(part[place] for place in members) for members, _ in own}
    assert of_parts == whole
