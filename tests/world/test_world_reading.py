"""Reading texts of the world back: exact on everything that the generator can write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.corpus.settings import WorldSettings
from brido.world import document, reading
from brido.world.reading import WorldMention, mentions, read, supports


@settings(max_examples=300)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([(1, 1), (1, 2), (2, 4)]))
def test_reading_inverts_writing(index, formulaic, extras):
    knobs = WorldSettings(formulaic_extras=formulaic, extras_per_reference=extras)
    row = document(knobs, "train", index)
    facts = {(fact["slot"], fact["type"], fact["value"]) for fact in row["facts"]}
    found = read(row["summary"], row["facts"][0]["value"])
    assert found.well_formed
    assert found.event == row["facts"][0]["value"]
    statements = [(each.slot, each.type, each.value) for each in found.statements]
    assert set(statements) <= facts
    assert len(statements) == len(set(statements))
    assert reading.key_slots(found.event) <= {slot for slot, _, _ in statements}
    # What is in the summary alone is what the facts call unsupported.
    missing = {fact["value"] for fact in row["facts"] if not fact["in_document"]}
    assert missing <= {value for _, _, value in statements}


@settings(max_examples=300)
@given(st.integers(0, 10**6))
def test_mentions_of_a_document_are_its_facts(index):
    row = document(WorldSettings(), "test", index)
    present = {
        (fact["type"], fact["value"])
        for fact in row["facts"]
        if fact["in_document"] and fact["type"] not in {"event", "term"}
    }
    found = {(each.type, each.value) for each in mentions(row["document"])}
    assert present <= found
    # Beyond the facts' own values only short forms ("Marlow") of the same persons occur.
    for kind, value in found - present:
        assert any(kind == fact[0] and supports(fact[1], value) for fact in present)


def test_mentions_by_hand():
    text = "Anna Aldlow, 44, paid Keltech Foods £40,000 (or £3m) in Ashwick, Avenshire, on Monday."
    assert [(each.type, each.value) for each in mentions(text)] == [
        ("person", "Anna Aldlow"),
        ("age", "44"),
        ("organisation", "Keltech Foods"),
        ("money", "£40,000"),
        ("money", "£3m"),
        ("town", "Ashwick"),
        ("county", "Avenshire"),
        ("day", "Monday"),
    ]
    assert mentions("x Aldlow")[0] == WorldMention("person", "Aldlow", 2, 8)
    assert mentions("Foods, Anna and 45x or 300") == [
        WorldMention("organisation", "Foods", 0, 5),
        WorldMention("person", "Anna", 7, 11),
        WorldMention("number", "300", 23, 26),
    ]


@pytest.mark.parametrize(
    ("fact", "mention", "expected"),
    [
        ("Anna Aldlow", "Anna Aldlow", True),
        ("Anna Aldlow", "Aldlow", True),
        ("Anna Aldlow", "Mr Aldlow", True),
        ("Anna Aldlow", "Tom Aldlow", False),
        ("Mr Aldlow", "Anna Aldlow", False),
        ("Keltech Foods", "Keltech Rail", False),
        ("Keltech Foods", "Keltech", True),
        ("44", "45", False),
    ],
)
def test_supports(fact, mention, expected):
    assert supports(fact, mention) is expected


def test_a_broken_sentence_is_read_piece_by_piece():
    found = read(
        "Anna Aldlow, 44, jailed jailed for fraud in Ashwick, Avenshire, on Monday", "court"
    )
    assert not found.well_formed
    assert found.event is None
    assert {(each.slot, each.value) for each in found.statements} == {
        ("defendant", "Anna Aldlow"),
        ("age", "44"),
        ("offence", "fraud"),
        ("town", "Ashwick"),
        ("county", "Avenshire"),
        ("day", "Monday"),
    }
