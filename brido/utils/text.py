"""Clean-up and sentence splitting, the same wherever text is compared."""

import functools
import re
from typing import Literal

from brido.utils.errors import BridoError

Splitter = Literal["abbreviations", "punkt"]

# Written lower-case without the final full stop, as Punkt keeps them. Only words that are rarely
# the last of a sentence belong here.
ABBREVIATIONS = frozenset(
    """
    adm approx apr asst aug ave brig bros capt cf cmdr co col corp dec dept dr e.g est etc feb fig
    gen gov hon i.e inc jan jr jul jun lt ltd maj mar messrs mr mrs ms no nov oct p.m a.m ph.d pres
    prof rep rev sen sep sept sgt sr st supt u.k u.n u.s vol vs
    """.split()  # noqa: SIM905 - a list of words reads better as text
)


def clean(text: str) -> str:
    """`text` with every run of white space, newlines included, made one space and ends stripped."""
    return re.sub(r"\s+", " ", text).strip()


def split_sentences(text: str, splitter: Splitter = "abbreviations") -> list[str]:
    """The sentences of `text`, stripped, none empty.

    `abbreviations` is NLTK's Punkt algorithm with the abbreviations listed here and no trained
    model, so it needs no download; `punkt` is NLTK's trained English model.

    Raises:
        BridoError: `punkt` without NLTK's punkt_tab data on this machine.
    """
    return [part for part in (s.strip() for s in _tokenizer(splitter).tokenize(text)) if part]


def one_sentence_a_line(text: str, splitter: Splitter = "abbreviations") -> str:
    """`text` with a newline after each sentence, as ROUGE-Lsum wants it."""
    return "\n".join(split_sentences(text, splitter))


@functools.cache
def _tokenizer(splitter: Splitter):  # type: ignore[no-untyped-def]
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, PunktTokenizer

    if splitter == "punkt":
        try:
            return PunktTokenizer("english")
        except LookupError:
            raise BridoError(
                "text.sentence_splitter: `punkt` needs NLTK's punkt_tab data, which is not on this "
                "machine: run `python -m nltk.downloader punkt_tab`, or use `abbreviations`"
            ) from None
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)
