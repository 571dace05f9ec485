"""What an answer on the source is worth by its words: normalisation, exact match, token F1.

These are the released rules (SQuAD's, with the float order of its script): the filter compares
F1 > 0.60 strictly, and 2o / (|a| + |p|) would flip it for long answers.
"""

import re
import string
from collections import Counter

# An answer counts as found again in the summary only above this F1, never at it.
FILTER_THRESHOLD = 0.60

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """`text` lower-cased, without ASCII punctuation and English articles, spaces collapsed.

    Typographic quotes and dashes stay, as in the released code.
    """
    lowered = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def exact_match(answer: str, prediction: str) -> float:
    """1.0 if both texts are equal once normalised, else 0.0."""
    return float(normalise(answer) == normalise(prediction))


def token_f1(answer: str, prediction: str) -> float:
    """The F1 of the two bags of normalised words, in [0, 1].

    Computed as (2 P R) / (P + R) with P = o / |prediction| and R = o / |answer|. If either bag is
    empty: 1.0 if both are, else 0.0.
    """
    wanted, found = normalise(answer).split(), normalise(prediction).split()
    if not wanted or not found:
        return float(wanted == found)
    overlap = sum((Counter(wanted) & Counter(found)).values())
    if overlap == 0:
        return 0.0
    precision, recall = overlap / len(found), overlap / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def is_answered(probability: float, null_probability: float) -> bool:
    """Whether the best span beats "no answer", strictly."""
    return probability > null_probability


def is_kept(answer: str, prediction: str, probability: float, null_probability: float) -> bool:
    """Whether a question survives the filter, given its answer on the summary itself.

    It must be answerable there and give back the answer it was made from: F1 > 0.60.
    """
    answered = is_answered(probability, null_probability)
    return answered and token_f1(answer, prediction) > FILTER_THRESHOLD
