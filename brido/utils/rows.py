"""The values of a user's rows: what is blank, what is an id, and which rows are left out."""

import hashlib
import json
import unicodedata
from types import NoneType
from typing import Any

from brido.utils.errors import some

NOT_UNICODE = (
    "a text is not UTF-8, or has half of a surrogate pair (such as \\ud800): save it as UTF-8"
)
# Control and format characters (zero-width spaces and joiners, byte order marks), marks that stand
# on another character, and white space.
_UNSEEN = {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"}
# Letters and signs whose shape is empty: fillers of Hangul, the Braille pattern without dots.
_EMPTY = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# What pandas, R, spreadsheets and databases write of a value that is missing or wrong.
_NO_TEXTS = frozenset(
    ("nan", "NaN", "NaT", "<NA>", "null", "NULL", "\\N", "NA", "N/A", "n/a", "#N/A", "#NAME?")
) | {"#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#ERROR!"}
# Names of bad rows that a message shows for each kind, and the kinds that it shows.
_NAMED, _KINDS = 3, 8


def is_blank(text: str) -> bool:
    """Whether a text has no character that shows, such as one of zero-width spaces alone."""
    return all(sign in _EMPTY or unicodedata.category(sign) in _UNSEEN for sign in text)


def is_missing(value: Any) -> bool:
    """Whether a value is null, a blank text, or the mark of a missing value."""
    return value is None or (
        isinstance(value, str) and (is_blank(value) or value.strip() in _NO_TEXTS)
    )


def is_unicode(value: Any) -> bool:
    """Whether a text, and any text inside a JSON value, can be written as UTF-8.

    Half of a surrogate pair cannot. JSON writes one as an escape, and a byte of a file that is not
    UTF-8 is read as one.
    """
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number that a float holds; true and false are none."""
    return type(value) in (int, float) and abs(value) < 1e300


def kind(value: Any) -> str:
    """What a value of JSON or Parquet is, in words: `a number`."""
    kinds = {str: "a text", bool: "true or false", list: "a list", dict: "an object",
             int: "a number", float: "a number", NoneType: "null"}  # fmt: skip
    return kinds.get(type(value), type(value).__name__)


def keys_of(record: dict[str, Any]) -> str:
    """The keys of a JSON object in a sentence: `It has the keys a, b`."""
    return f"It has the keys {some(list(record))}" if record else "It has no key"


def texts_problem(row: dict[str, Any]) -> str:
    """What is wrong with the texts of a row of candidates in a user's file, or ""."""
    if "candidates" not in row:
        return f"the key `candidates` is missing. {keys_of(row)}"
    candidates = row["candidates"]
    if not isinstance(candidates, list):
        return f"`candidates` is {kind(candidates)}, but must be a list of texts"
    for place, text in enumerate(candidates, 1):
        if not isinstance(text, str):
            return f"`candidates` must be texts: candidate {place} is {kind(text)}"
    return ""


def id_text(value: Any) -> str | None:
    """The text of an id; None where it is missing, or is something else than an id.

    An id is a text, a number or a date, and is kept as its text: 007 stays 007. It is missing where
    it is null, NaN or blank.
    """
    if value is None or value != value or isinstance(value, bool | list | dict | bytes):
        return None
    text = str(value)
    return None if is_blank(text) else text


class Ids:
    """The ids of rows that belong together, each once; memory grows by about 100 bytes a row."""

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


class LeftOut:
    """The rows that are left out; faults: what is wrong -> the places of all rows with it."""

    def __init__(self) -> None:
        self.faults: dict[str, list[str]] = {}

    def note(self, fault: str, *places: str) -> None:
        """Count rows that are left out."""
        self.faults.setdefault(fault, []).extend(places)

    def __len__(self) -> int:
        return sum(map(len, self.faults.values()))

    def text(self) -> str:
        """The faults in words, the most frequent first; "" for none."""
        ordered = sorted(self.faults.items(), key=lambda item: -len(item[1]))
        told = []
        for fault, places in ordered[:_KINDS]:
            named = ", ".join(places[:_NAMED]) + ", ..." * (len(places) > _NAMED)
            told.append(f"{fault}: {len(places):,} ({named})")
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
