"""A reference says nothing beyond its facts that its article lacks.

A content word of a reference (no function word, no part of a fact's value) must be in the article,
equal by its Porter stem. A lead or an extra may so use only stems that one group of the body has in
each of its wordings: every article has a sentence of every group.
"""

import re

import pytest
from nltk.stem.porter import PorterStemmer

from brido.world.events import event_types

# Closed: words of grammar, which state nothing by themselves.
ARTICLES_AND_PRONOUNS = "a the it its that their this which who"
PREPOSITIONS = """above according after against ahead alongside among as at because before
    behind beside by despite during for from in near of on out outside over through to under up via
    with within"""
AUXILIARIES = "be been being could done had has have having is may was were will"
CONJUNCTIONS_AND_ADVERBS = "all and many not now others some there too while worth"
FUNCTION_WORDS = {
    *ARTICLES_AND_PRONOUNS.split(), *PREPOSITIONS.split(), *AUXILIARIES.split(),
    *CONJUNCTIONS_AND_ADVERBS.split(),
}  # fmt: skip
# They only say of what type the value beside them is.
NAMES_OF_TYPES = {"aged", "age", "county", "day", "total", "sum", "company", "person"}
STEMMER = PorterStemmer()


def stems(text):
    """Stems of the content words of a wording or a text without its facts' values."""
    words = re.findall(r"[a-z]+", re.sub(r"[{\[]\w+[}\]]", " ", text).lower())
    return {STEMMER.stem(word) for word in words if word not in FUNCTION_WORDS | NAMES_OF_TYPES}


def always_said(event):
    """Stems that every article about an event of this type has."""
    return set().union(*(set.intersection(*map(stems, group)) for group in event.body))


def lacking(event, wordings):
    """Wordings with a content word that some article lacks, and these words' stems."""
    said = always_said(event)
    return {text: stems(text) - said for text in wordings if stems(text) - said}


def wordings_of_references(event):
    extras = [text for option in event.options for text in (*option.extras, option.formula)]
    return [*event.leads, *extras]


@pytest.mark.parametrize("event", event_types(), ids=lambda event: event.name)
def test_every_content_word_of_a_reference_is_in_each_body(event):
    assert lacking(event, wordings_of_references(event)) == {}
