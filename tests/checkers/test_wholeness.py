"""Which texts are whole, by the world's grammar or by stated rules, and how much is copied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.checkers.texts import SourceText, by_mentions, check_texts
from brido.checkers.wholeness import copied_share, is_whole
from brido.corpus.settings import WorldSettings
from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.world import documents, reading

REFERENCE = "A lorry hit a wall in Ashwick on Monday."


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("A bus hit a tree in Colham.", True),
        ("A bus hit a tree in “Colham.”", True),
        ("A bus hit a tree in Colham", False),  # no end
        ("A bus hit hit a tree in Colham.", False),  # a word twice in a row
        ("A a b b a b b a a b a b b.", False),  # few words again and again
        ("a b c d a c b d c a b c.", False),  # 4 of 12 differ, fewer than two in five
        ("a b c d a c e d b c.", True),  # 5 of 10
        ("a b a b c a b d a b.", True),  # 4 of 10
        ("a b a b c a c b a c.", False),  # 3 of 10
        ("a b a b c a c a b.", True),  # 3 of 9, too few words for a loop
        ("A bus hahahahaha hit a tree.", False),  # letters five times in a row
        ("A bus hahahaha hit a tree.", True),  # four times
        ("In the town of a bus in the town.", False),  # three words twice
        ("A bus hit Tom of Colham with Tom.", False),  # a name twice in a sentence
        ("Tom of Colham hit a bus. Tom fled.", True),  # in two
        ("The VAEs meet GANs, and VAEs win.", True),  # an abbreviation
        ("A bus hit a tree in may over in may.", False),  # a preposition with the same word
        ("A bus in the town in the morning.", True),
        ("A lorry hit Colham.", False),  # 4 words, less than half of the reference's 9
        (" ".join(f"word{n}" for n in range(19)) + ".", False),  # more than twice
        ("", False),
    ],
)
def test_the_rules_one_by_one(text, whole):
    assert is_whole(text, REFERENCE, None) == whole


def test_what_the_reference_does_not_say_is_not_asked():
    assert is_whole("A bus crashed.", None, None)
    assert not is_whole("A bus crashed", None, None)
    assert is_whole("Bus hits tree in Colham", "Lorry hits wall in Ashwick", None)
    assert is_whole("A bus crashed.", "  ", None)


@pytest.mark.parametrize(
    ("words", "of_document", "whole"),
    [(20, 1, True), (21, 1, False), (21, 41, False), (21, 42, True), (60, 119, False),
     (60, 120, True)],
)  # fmt: skip
def test_without_a_reference_it_is_half_of_its_document_at_most(words, of_document, whole):
    text = " ".join(f"word{n}" for n in range(words)) + "."
    document = " ".join(f"word{n}" for n in range(of_document))
    assert is_whole(text, None, None, document) == whole
    assert is_whole(text, text, None, document), "a reference says how long it may be"
    assert is_whole(text, None, None)
    (row,) = check_texts([SourceText(document)], [[text]], by_mentions)
    assert row["whole"] == [whole]


def test_on_the_world_its_grammar_decides():
    (row, *_) = documents(WorldSettings(train=1, validation=1, test=1), "validation", 1)
    event = next(fact["value"] for fact in row["facts"] if fact["slot"] == "event")
    for text in (row["summary"], row["summary"].rstrip("."), "A bus hit a tree in Colham."):
        assert is_whole(text, row["summary"], row["facts"]) == reading.read(text, event).well_formed
    assert is_whole(row["summary"], None, row["facts"])
    # Facts that name no event are not the world's.
    facts = [{"slot": "place", "type": "town", "value": "Colham", "in_document": True}]
    assert is_whole("A bus hit a tree in Colham.", None, facts)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_copied_trigrams_counted_slowly(document, text):
    size = min(3, len(text))
    if not text:
        assert copied_share(" ".join(document), "") == 0
        return
    hits = total = 0
    for place in range(len(text) - size + 1):
        total += 1
        hits += any(
            document[at : at + size] == text[place : place + size]
            for at in range(len(document) - size + 1)
        )
    assert copied_share(" ".join(document).upper(), " ".join(text)) == pytest.approx(hits / total)


def test_the_metric_says_good_of_texts_that_are_not_the_worlds():
    texts = [
        "A lorry hit a wall in Ashwick.",  # good
        "A lorry hit a wall in Colham.",  # whole, and not supported
        "A lorry hit a wall in Ashwick",  # supported, and not whole
    ]
    count = len(texts)
    inputs = Inputs(["a", "b", "c"], [REFERENCE] * count, texts, [[REFERENCE]] * count)
    found = find_metric("mentions").measure(inputs)
    assert [row["whole"] for row in found.rows] == [1.0, 1.0, 0.0]
    assert [row["good"] for row in found.rows] == [1.0, 0.0, 0.0]
    assert "half to twice" in found.signature["good"]
