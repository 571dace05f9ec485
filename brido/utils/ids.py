"""The ids of a user's rows: the same rules in every command and stage.

An id is a text, a number or a date, and is kept as its text: 007 stays 007. It is missing where it
is null, NaN or blank. It stands once among the rows that belong together.
"""

import hashlib
from typing import Any

from brido.utils.blank import is_blank


def id_text(value: Any) -> str | None:
    """The text of an id; None where it is missing, or is something else than an id."""
    if value is None or value != value or isinstance(value, bool | list | dict | bytes):
        return None
    text = str(value)
    return None if is_blank(text) else text


class Ids:
    """The ids of rows that belong together; memory grows by about 100 bytes a row."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def fault(self, value: Any) -> str:
        """What is wrong with the id of the next row, or ""; one that is right is remembered."""
        text = id_text(value)
        if text is None:
            is_other = isinstance(value, bool | list | dict | bytes)
            return "id is not a text or number" if is_other else "id is null or blank"
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        if digest in self._seen:
            return "id was seen before"
        self._seen.add(digest)
        return ""
