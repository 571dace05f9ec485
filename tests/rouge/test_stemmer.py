"""The compiled stemmer equals NLTK's on words made to reach every rule."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from brido.rouge import stemmer

NLTK = PorterStemmer()
SUFFIXES = """
ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness fulness
ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able
ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize ed ing eed ied ies sses ss s y e ll
at bl iz lling zz ate ily
""".split()  # noqa: SIM905 - a list of suffixes reads better as text


def stem(word):
    letters = np.zeros(len(word) + 3 * stemmer.PAD, np.uint8)
    letters[stemmer.PAD : stemmer.PAD + len(word)] = np.frombuffer(word.encode(), np.uint8)
    length = stemmer.stem(letters, len(word))
    return bytes(letters[stemmer.PAD : stemmer.PAD + length]).decode()


def check(words):
    wrong = {word: (stem(word), NLTK.stem(word)) for word in words}
    assert not {word: pair for word, pair in wrong.items() if pair[0] != pair[1]}


EXAMPLES = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized
hopping tanned falling hissing fizzed failing filing happy enjoy spy relational conditional
rational valenci digitizer radically differently vilely analogously vietnamization predication
operator feudalism decisiveness hopefulness callousness formality sensitivity sensibility
triplicate formative formalize electricity electrical goodness revival allowance inference airliner
gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologous
communism activate angularity effective bowdlerize probate rate cease controlling roll geology
archaeology dies died flies hopefully syzygy toys yyyy 2000s 1980 a1ing
"""


def test_the_examples_of_porter_and_nltk():
    check(EXAMPLES.split())


@pytest.mark.parametrize("word", [*stemmer._IRREGULAR, "inningses", "newsy", "canningss"])
def test_irregular_words_and_their_neighbours(word):
    check([word, word + "s", "x" + word, word[:-1] + "x"])


@settings(max_examples=1500)
@given(
    st.text("aeiouybcdlstwxz19", max_size=6),
    st.lists(st.sampled_from(SUFFIXES), max_size=3).map("".join),
)
def test_any_root_with_any_suffixes(root, suffixes):
    word = root + suffixes
    if len(word) > 3:
        check([word])


def test_all_short_words_of_the_letters_that_rules_ask_for():
    check(map("".join, itertools.product("aeyslngdt", repeat=4)))


def test_long_words():
    generator = random.Random(0)
    check("".join(generator.choices("aeybstl", k=k)) + "ization" for k in range(20, 400, 7))
