"""The generator: determinism, the promised statistics, the knobs, and the written texts."""

import hashlib
import json

import pytest

from brido.corpus.checks import SPLITS
from brido.corpus.settings import WorldSettings
from brido.world import document, documents
from brido.world.events import event_types

DEFAULT = WorldSettings()
# A world in which the vote likes what is unsupported (docs/log.md).
FIRST = WorldSettings(stock_phrases=0.0, extras_per_reference=(1, 2))


@pytest.fixture(scope="module")
def rows():
    return list(documents(DEFAULT, "train", 1500))


def share(values):
    values = list(values)
    return sum(values) / len(values)


def test_document_i_does_not_depend_on_the_others(rows):
    assert document(DEFAULT, "train", 1234) == rows[1234]
    assert list(documents(DEFAULT, "train", 3)) == rows[:3]
    assert len(list(documents(WorldSettings(validation=7), "validation"))) == 7


# Of 50 documents a split: ids, texts and facts; ids and facts alone, whatever the wordings.
@pytest.mark.parametrize(
    ("settings", "texts", "facts"),
    [
        (DEFAULT, "39d87bec104e78cc", "799e294adc29e0c6"),
        (FIRST, "bef31acb3d62b975", "53d4f7905ca46184"),
        (
            WorldSettings(counties_from_towns=True, formulaic_extras=True),
            "b2fcda361d9b9dcb",
            "0a6c414e7e84af2e",
        ),
    ],
)
def test_every_document_is_what_was_recorded(settings, texts, facts):
    """Published numbers rest on these very documents."""
    whole, without_wordings = hashlib.sha256(), hashlib.sha256()
    for split in SPLITS:
        for row in documents(settings, split, 50):
            whole.update(json.dumps(row, ensure_ascii=False).encode())
            known = [row["id"], row["facts"]]
            without_wordings.update(json.dumps(known, ensure_ascii=False).encode())
    assert (whole.hexdigest()[:16], without_wordings.hexdigest()[:16]) == (texts, facts)


def optional(row):
    event = next(event for event in event_types() if event.name == row["facts"][0]["value"])
    return [fact for fact in row["facts"] if fact["slot"] in {each.slot for each in event.options}]


@pytest.mark.parametrize("rate", [0.0, 0.35])
def test_support_rate_is_the_share_of_told_facts_that_the_body_has(rate):
    told = [
        fact["in_document"]
        for row in documents(WorldSettings(support_rate=rate), "train", 800)
        for fact in optional(row)
        if fact["value"] in row["summary"]
    ]
    assert share(told) == pytest.approx(rate, abs=0.04)
