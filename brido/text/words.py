"""Clean-up, words and sentences, the same wherever text is compared."""

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

# How the splitters are called in the signatures of numbers: without and with `any_script`.
SPLITTER = "abbreviations"
SPLITTER_OF_SCRIPTS = "abbreviations and ends of other scripts"

# Where a sentence ends in scripts that do not end it with ASCII's . ! ?
ENDS = "。！？｡।॥؟۔።។"
# What may close a quotation or bracket behind the end of a sentence.
CLOSERS = "\"'”’»)]」』）】》"
_END_OF_SCRIPTS = re.compile(f"[{ENDS}]+[{re.escape(CLOSERS)}]*")

# Written lower-case without the final full stop, as Punkt keeps them. Only words that are rarely
# the last of a sentence belong here.
ABBREVIATIONS = frozenset(
    """
    adm approx apr asst aug ave brig bros capt cf cmdr co col corp dec dept dr e.g est etc feb fig
    gen gov hon i.e inc jan jr jul jun lt ltd maj mar messrs mr mrs ms no nov oct p.m a.m ph.d pres
    prof rep rev sen sep sept sgt sr st supt u.k u.n u.s vol vs
    """.split()  # noqa: SIM905 - a list of words reads better as text
)

# Letters of scripts that put no spaces between words: there each with its marks is a token. As a
# part of a regular expression's class.
_SPACELESS = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007"
    r"\u3031-\u3035\u303b\u303c\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\ua4cf\ua9e0-\ua9ff\uaa60-\uaadf\uf900-\ufaff\U0001b000-\U0001b16f"
    r"\U00020000-\U0003fffd&&[\p{L}\u3007]]"
)
_LETTER = rf"[[\p{{L}}\p{{N}}]--{_SPACELESS}]"
# They stand inside of words and do not show: soft hyphens, joiners, marks of direction. As a part
# of a regular expression's class.
UNSEEN = "\u00ad\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_UNSEEN = re.compile(f"[{UNSEEN}]")
_PLAIN = re.compile("[a-z0-9]+")
# Letters of words that rouge_score breaks or leaves out, and the share of such words from which its
# numbers mean little: Czech, Polish, Turkish and Vietnamese are above it, German and French below.
_OTHER_LETTER = re.compile(r"[^\W\d_a-zA-Z]")
MOST = 0.2


def clean(text: str) -> str:
    """`text` with every run of white space, newlines included, made one space and ends stripped."""
    return re.sub(r"\s+", " ", text).strip()


def clean_lines(text: str) -> str:
    """`text` with each of its lines as `clean` leaves it, without blank ones.

    Example:
        >>> clean_lines(" Ann:  Hello. \\r\\n\\n Bob: Hi.")
        'Ann: Hello.\\nBob: Hi.'
    """
    return "\n".join(filter(None, map(clean, text.splitlines())))


def split_sentences(text: str, any_script: bool = False) -> list[str]:
    """The sentences of `text`, stripped, none empty.

    NLTK's Punkt algorithm with the abbreviations listed here and no trained model, so it needs no
    download and gives the same sentences on every machine. any_script: they also end at ENDS.
    """
    parts = _tokenizer().tokenize(text)
    if any_script:
        parts = [end for part in parts for end in _END_OF_SCRIPTS.sub(r"\g<0>\n", part).split("\n")]
    return [part for part in (s.strip() for s in parts) if part]


def one_sentence_a_line(text: str, any_script: bool = False) -> str:
    """`text` with a newline after each sentence, as ROUGE-Lsum expects it."""
    return "\n".join(split_sentences(text, any_script))


@functools.cache
def _tokenizer():
    from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer

    class Language(PunktLanguageVars):
        def period_context_re(self):
            """Without the five seconds that nltk 3.10 gives it: a long text needs more."""
            expression = super().period_context_re()
            if isinstance(expression, re.Pattern):
                return expression
            from nltk import redos

            return redos.compile(expression, timeout=None)

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters, lang_vars=Language())


class UnicodeTokenizer:
    """Tokens of any script, in the form that rouge_score's `RougeScorer(tokenizer=...)` takes.

    Texts are brought to NFKC and lower case. A token is a run of letters, digits and their marks;
    in scripts without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer) it is a character with
    its marks. Words of a-z and 0-9 alone are stemmed as rouge_score stems them, no others; so texts
    of ASCII have the tokens that they have by default.

    Example:
        >>> UnicodeTokenizer(use_stemmer=False).tokenize("Два кота! 猫が2匹")
        ['два', 'кота', '猫', 'が', '2', '匹']
    """

    def __init__(self, use_stemmer: bool) -> None:
        self._stem = None
        if use_stemmer:
            from nltk.stem.porter import PorterStemmer

            self._stem = PorterStemmer().stem

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text, in order."""
        found = words(text)
        if self._stem is None:
            return found
        return [self._stem(word) if len(word) > 3 and word.isascii() else word for word in found]


def words(text: str) -> list[str]:
    """The tokens of a text before stemming; see UnicodeTokenizer."""
    if text.isascii():
        return _PLAIN.findall(text.lower())
    found: list[str] = _patterns()[0].findall(without_unseen(composed(text).lower()))
    return found


def word_count(text: str) -> int:
    """How long a text is: words between spaces; a character of a script without spaces is a word.

    Example:
        >>> word_count("Two cats, well-fed."), word_count("猫が 2匹")
        (3, 4)
    """
    parts = text.split()
    if text.isascii():
        return len(parts)
    spaceless = _patterns()[1]
    return sum(len(words(part)) if spaceless.search(part) else 1 for part in parts)


def composed(text: str) -> str:
    """`text` in NFKC: letters and their marks as one character, ligatures as their letters."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def without_unseen(text: str) -> str:
    """`text` without the characters of UNSEEN."""
    return _UNSEEN.sub("", text)


def unseen_share(texts: Sequence[str]) -> float:
    """The share of words that rouge_score's tokenizer breaks or leaves out, 0 to 1.

    It knows a-z and 0-9: of "café" it reads "caf", of another script nothing. The mean of the
    texts, 0 without any.

    Example:
        >>> unseen_share(["Příliš žluťoučký kůň pěl", "A café in Leeds."])
        0.625
    """
    shares = [0.0]
    for text in texts:
        found = [] if text.isascii() else composed(text).split()
        broken = sum(not word.isascii() and bool(_OTHER_LETTER.search(word)) for word in found)
        shares.append(broken / max(len(found), 1))
    return sum(shares) / max(len(texts), 1)


def seeing_tokenizer(texts: Sequence[str]) -> Literal["rouge_score", "unicode"]:
    """The tokenizer of ROUGE that reads nearly all words: rouge_score's own where it does."""
    return "unicode" if unseen_share(texts) > MOST else "rouge_score"


def unseen_warning(share: float, way_out: str) -> str:
    """The sentence about words that ROUGE does not read, or "" where they are no more than MOST.

    share: of `unseen_share`; way_out: a sentence with the option or key that mends it.
    """
    if share <= MOST:
        return ""
    return (
        f"warning: rouge_score breaks or leaves out {share:.0%} of the words (it knows a-z and "
        f"0-9): their similarities mean little. {way_out}"
    )


@functools.cache
def _patterns() -> tuple[Any, Any]:
    """What finds the tokens of a text, and a character of a script without spaces."""
    import regex  # takes a while, and texts of ASCII need none

    token = rf"{_SPACELESS}\p{{M}}*|{_LETTER}+(?:\p{{M}}+{_LETTER}*)*"
    return regex.compile(token, regex.V1), regex.compile(_SPACELESS, regex.V1)
