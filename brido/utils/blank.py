"""Texts in which nothing can be seen, and values that are missing."""

import unicodedata
from typing import Any

# Control and format characters (zero-width spaces and joiners, byte order marks), marks that stand
# on another character, and white space.
_UNSEEN = {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"}
# Letters and signs whose shape is empty: fillers of Hangul, the Braille pattern without dots.
_EMPTY = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# What pandas, R, spreadsheets and databases write of a value that is missing or wrong.
_NO_TEXTS = frozenset(
    ("nan", "NaN", "NaT", "<NA>", "null", "NULL", "\\N", "NA", "N/A", "n/a", "#N/A", "#NAME?")
) | {"#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#ERROR!"}


def is_blank(text: str) -> bool:
    """Whether a text has no character that shows, such as one of zero-width spaces alone."""
    return all(sign in _EMPTY or unicodedata.category(sign) in _UNSEEN for sign in text)


def is_missing(value: Any) -> bool:
    """Whether a value is null, a blank text, or the mark of a missing value."""
    return value is None or (
        isinstance(value, str) and (is_blank(value) or value.strip() in _NO_TEXTS)
    )
