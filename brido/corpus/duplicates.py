"""Documents that stand more than once: in two splits, or under several ids of one."""

import hashlib
from collections import Counter

from brido.utils.errors import some


class DocumentsSeen:
    """The documents of all splits so far, known by a hash of their text.

    Memory grows by about 150 bytes for each different document.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._count: Counter[str] = Counter()
        # By split, and by the split where the same document stood first: its ids.
        self._again: dict[tuple[str, str], list[str]] = {}

    def add(self, split: str, name: str, document: str) -> None:
        """Note a document of a split, whose id is `name`."""
        self._count[split] += 1
        digest = hashlib.blake2b(document.encode(), digest_size=16).digest()
        if digest in self._first:
            self._again.setdefault((split, self._first[digest]), []).append(name)
        else:
            self._first[digest] = split

    def warning(self, split: str) -> str:
        """What a user should know about a split whose documents are not all new; "" if they are."""
        found = [
            f"{len(names):,} stand in {first} {'before' if first == split else 'too'} "
            f"({some(names, 5)})"
            for (here, first), names in self._again.items()
            if here == split
        ]
        return (
            found
            and (
                f"{split}: of {self._count[split]:,} documents {' and '.join(found)}; numbers "
                "measured on them say little about new documents"
            )
        ) or ""
