"""From word pieces back to the text as it was written, and to its place in the context."""

import re

from tokenizers import normalizers, pre_tokenizers

# What the released code splits words at; a no-break space stays in its word.
SEPARATORS = " \t\r\n\u202f"

# BERT's basic tokenizer: cleaned, lower-cased, accents off, CJK and punctuation split.
_NORMALIZER = normalizers.BertNormalizer(lowercase=True)
_SPLITTER = pre_tokenizers.BertPreTokenizer()


def basic_tokens(text: str) -> list[str]:
    """BERT's basic tokens of `text`: lower case, no accents, punctuation apart."""
    normalised = _NORMALIZER.normalize_str(text)
    return [token for token, _ in _SPLITTER.pre_tokenize_str(normalised)]


def join_pieces(pieces: list[str]) -> str:
    """Word pieces as text: continuation marks removed, spaces collapsed.

    A span that begins inside a word keeps the first piece's mark; it is then not found in the
    text, and the whole words are the answer.
    """
    return " ".join(" ".join(pieces).replace(" ##", "").split())


def original_text(found: str, original: str) -> str:
    """The part of `original` (whole words) that `found` (joined pieces) stands for.

    `found` is looked up in the basic tokens of `original`; its first and last character are then
    mapped back through both texts without their spaces. Where that fails, all of `original`.
    """
    tokens = " ".join(basic_tokens(original))
    start = tokens.find(found)
    if start < 0:
        return original
    end = start + len(found) - 1
    token_places = [index for index, letter in enumerate(tokens) if letter != " "]
    original_places = [index for index, letter in enumerate(original) if letter != " "]
    if len(token_places) != len(original_places):
        return original
    back = dict(zip(token_places, original_places, strict=True))
    if start not in back or end not in back:
        return original
    return original[back[start] : back[end] + 1]


def align_span(prediction: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where in `text` the prediction stands, inside the whole words text[start:end].

    The text may have other spaces than the prediction. Where the prediction is not there exactly
    once, the whole words. Informative only: no score depends on it.
    """
    words = text[start:end]
    if words.count(prediction) == 1:
        first = start + words.index(prediction)
        return first, first + len(prediction)
    spaced = f"[{SEPARATORS}]+".join(map(re.escape, prediction.split(" ")))
    found = list(re.finditer(spaced, words))
    if len(found) != 1:
        return start, end
    return start + found[0].start(), start + found[0].end()
