"""Texts in which nothing can be seen."""

import unicodedata

# Control and format characters (zero-width spaces and joiners, byte order marks), marks that stand
# on another character, and white space.
_UNSEEN = {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"}
# Letters and signs whose shape is empty: fillers of Hangul, the Braille pattern without dots.
_EMPTY = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Whether a text has no character that shows, such as one of zero-width spaces alone."""
    return all(sign in _EMPTY or unicodedata.category(sign) in _UNSEEN for sign in text)
