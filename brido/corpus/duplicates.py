"""Documents that stand more than once: in two splits, or under several ids of one."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from brido.utils.errors import some

_NAMED = 5


class DocumentsSeen:
    """The documents of all splits so far, known by a hash of their text.

    Memory grows by about 150 bytes for each different document.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._count: Counter[str] = Counter()
        # By split, and by the split where the same document stood first.
        self.again: Counter[tuple[str, str]] = Counter()
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, split: str, name: str, document: str) -> None:
        """Note a document of a split, whose id is `name`."""
        self._count[split] += 1
        digest = hashlib.blake2b(document.encode(), digest_size=16).digest()
        if digest not in self._first:
            self._first[digest] = split
            return
        place = split, self._first[digest]
        self.again[place] += 1
        names = self._names.setdefault(place, [])
        if len(names) <= _NAMED:
            names.append(name)

    def warnings(self, split: str) -> Iterator[str]:
        """What a user should know about a split whose documents are not all new."""
        total = self._count[split]
        for (here, first), count in self.again.items():
            if here != split:
                continue
            names = some(self._names[here, first], _NAMED)
            if first == split:
                yield (
                    f"{split}: {count:,} of {total:,} documents stand there before, under another "
                    f"id ({names}): the same text counts more than once"
                )
            elif not (problem := self.problem(split)):
                yield (
                    f"{split}: {count:,} of {total:,} documents stand in {first} too ({names}): "
                    "what is measured on them says little about new documents"
                )
            elif first == "train":
                yield problem

    def problem(self, split: str) -> str | None:
        """Why what is measured on a split says nothing: each of its documents stands in train."""
        count = self._count[split]
        if split == "train" or not count or count > self.again[split, "train"]:
            return None
        names = some(self._names[split, "train"], _NAMED)
        return (
            f"{split}: all {count:,} documents stand in train too ({names}), so nothing that is "
            f"measured on them holds for new ones: name other files in data.files.{split}, or "
            "leave it out, and it is cut from train"
        )
