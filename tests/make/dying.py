"""Workers that a kill ends in the middle of their work."""

from typing import Any


def dying(kind: type, seen: list[Any]) -> type:
    """Such a worker: its second unit is a KeyboardInterrupt, once.

    seen: the units that were worked on, None for the kill.
    """

    class Dying(kind):
        def __call__(self, unit: Any) -> Any:
            if len(seen) == 1:
                seen.append(None)
                raise KeyboardInterrupt
            seen.append(unit)
            return super().__call__(unit)

    return Dying
