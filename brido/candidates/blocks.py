"""Blocks of documents whose candidates are scored with each other's sources.

A document's K other documents are drawn from its own window of consecutive documents. A shard is a
window, so a split of any length is read in constant memory.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from brido.utils.errors import BridoError

# Documents of a window; the last one also holds what is left.
WINDOW = 100


class Block(NamedTuple):
    """K + 1 documents, by their places: the first `scored` of them have their candidates scored.

    The others only lend their sources, to a block that would have too few.
    """

    members: tuple[int, ...]
    scored: int


def windows(count: int) -> list[range]:
    """Return the windows of `count` documents."""
    starts = [WINDOW * number for number in range(max(1, count // WINDOW))]
    return [
        range(start, end) for start, end in zip(starts, [*starts[1:], count], strict=True) if count
    ]


def blocks(
    ids: Sequence[str],
    texts: Sequence[str],
    others: int,
    seed: int,
    key: str = "likelihood.others",
) -> list[Block]:
    """Return the blocks of consecutive documents, from the start of a window on.

    ids, texts: of the documents. Every document is scored in one block of others + 1 documents
    with different texts. The order in which a window's documents join blocks depends on the seed
    and on their ids.

    Raises:
        BridoError: a window has too few different texts.
    """
    found = []
    for window in windows(len(ids)):
        if problem := too_few([texts[place] for place in window], others, key):
            raise BridoError(problem)
        keys = {place: blake2b(f"{seed} {ids[place]}".encode()).digest() for place in window}
        order = sorted(window, key=keys.__getitem__)
        marks = {place: text_key(texts[place]) for place in window}
        found += [_filled(members, order, marks, others) for members in _cut(order, marks, others)]
    return found


def too_few(texts: Sequence[str], others: int, key: str = "likelihood.others") -> str:
    """Say why the documents of a window cannot make blocks; "" if they can."""
    unlike = len({text_key(text) for text in texts})
    if unlike > others:
        return ""
    return (
        f"{key}: each document needs {others} others with different texts, but {len(texts):,} "
        f"documents have {unlike:,} different texts: lower it, or give more documents candidates"
    )


def text_key(text: str) -> str:
    """Return a short key of a text; texts that differ in white space alone have the same."""
    return blake2b(" ".join(text.split()).encode(), digest_size=12).hexdigest()


def _cut(order: Sequence[int], marks: Mapping[int, str], others: int) -> list[list[int]]:
    """Return the documents in blocks of at most others + 1 different texts, in this order."""
    full: list[list[int]] = []
    waiting: list[list[int]] = []
    for place in order:
        free = (own for own in waiting if all(marks[one] != marks[place] for one in own))
        block = next(free, None)
        if block is None:
            waiting.append(block := [])
        block.append(place)
        if len(block) > others:
            waiting.remove(block)
            full.append(block)
    return full + waiting


def _filled(
    members: list[int], order: Sequence[int], marks: Mapping[int, str], others: int
) -> Block:
    """Return a block of others + 1 documents, filled up with the first of the order that differ."""
    scored, known = len(members), {marks[place] for place in members}
    for place in order:
        if len(members) > others:
            break
        if marks[place] not in known:
            known.add(marks[place])
            members = [*members, place]
    return Block(tuple(members), scored)
