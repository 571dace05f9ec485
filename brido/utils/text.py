"""Clean-up and sentence splitting, the same wherever text is compared."""

import functools
import re

# How this splitter is called in the signatures of numbers.
SPLITTER = "abbreviations"

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


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty.

    NLTK's Punkt algorithm with the abbreviations listed here and no trained model, so it needs no
    download and gives the same sentences on every machine.
    """
    return [part for part in (s.strip() for s in _tokenizer().tokenize(text)) if part]


def one_sentence_a_line(text: str) -> str:
    """`text` with a newline after each sentence, as ROUGE-Lsum expects it."""
    return "\n".join(split_sentences(text))


@functools.cache
def _tokenizer():
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)
