"""Rows that cannot be used: counted, the first ones named, refused above a share."""

from typing import Any

# Names of bad rows that a message shows for each kind, and the kinds that it shows.
_NAMED, _KINDS = 3, 8


class LeftOut:
    """The rows that are left out; faults: what is wrong -> [how often, the first places...]."""

    def __init__(self) -> None:
        self.faults: dict[str, list[Any]] = {}

    def note(self, fault: str, place: str) -> None:
        """Count a row that is left out."""
        self._count(fault, 1, [place])

    def add(self, other: "LeftOut") -> None:
        """Count the rows of another one too, behind those that are here."""
        for fault, (count, *places) in other.faults.items():
            self._count(fault, count, places)

    def _count(self, fault: str, count: int, places: list[str]) -> None:
        known = self.faults.setdefault(fault, [0])
        known[0] += count
        known += places[: _NAMED + 1 - len(known)]

    def __len__(self) -> int:
        return sum(known[0] for known in self.faults.values())

    def text(self) -> str:
        """The faults in words, the most frequent first; "" for none."""
        ordered = sorted(self.faults.items(), key=lambda item: -item[1][0])
        told = [
            f"{fault}: {count:,} ({', '.join(places)}{', ...' if count > len(places) else ''})"
            for fault, (count, *places) in ordered[:_KINDS]
        ]
        return "; ".join(told + ["..."] * (len(ordered) > _KINDS))

    def problem(self, rows: int, allowed: float, key: str) -> str:
        """Why so many of `rows` rows cannot be left out, with the way out; "" if they can.

        allowed: the largest share of bad rows; key: the setting or option that says it.
        """
        bad = len(self)
        if bad <= allowed * rows:
            return ""
        return (
            f"{bad:,} of {rows:,} rows are bad ({bad / rows:.2%}; {key} allows {allowed:.2%}): "
            f"{self.text()}. Correct them, or raise {key} to leave them out"
        )
