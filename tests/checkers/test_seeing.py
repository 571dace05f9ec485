"""What a check can see: planted errors, and checks whose answer is known."""

import random

import pytest

from brido.checkers import sensitivity
from brido.checkers.mentions import text_mentions
from brido.checkers.planting import KINDS, planted
from brido.checkers.seeing import Finding, Sensitivity, Share, measured, table_of
from brido.evaluation.mentions import METRIC
from brido.evaluation.planted import metric_sensitivity
from brido.evaluation.registry import find_metric
from brido.utils.errors import BridoError

NAMES = ["Ann Lee", "Bo Ek", "Cy Dorn", "Di Marsh", "Ed Poole", "Flo Hay", "Gus Ivor", "Hal Kerr"]


def talks(count: int = 12) -> tuple[list[str], list[str]]:
    """Documents with two people and a number each, and references that tell them."""
    rng = random.Random(0)
    documents, references = [], []
    for number in range(count):
        one, other = rng.sample(NAMES, 2)
        documents.append(f"In town {one} lent {other} {40 + number} euros. So it was.")
        references.append(f"In town {one} lent {other} {40 + number} euros.")
    return documents, references


def test_mentions_sees_what_is_not_there_and_not_who_did_what():
    found = metric_sensitivity(METRIC, *talks())
    assert sensitivity("mentions", *talks()) == found
    with pytest.raises(BridoError, match="mentins.*mentions"):
        sensitivity("mentins", *talks())
    shares = {kind: (share.value, share.of) for kind, share in found.noticed.items()}
    assert shares["swapped names"] == (0.0, 12)
    assert shares["changed number"] == (1.0, 12)
    assert shares["cut sentence"] == (1.0, 12)
    assert shares["invented name"][0] == 1.0
    assert shares["other summary"][0] == 1.0
    assert (found.unsupported.value, found.not_whole.value, found.checked.value) == (0, 0, 1)
    assert found.answers
    assert Sensitivity.from_plain(found.plain()) == found
    rows = table_of({"mentions": found})
    assert rows[:2] == [
        ["planted, and noticed by", "mentions"],
        ["swapped names", "0 % [0, 24] of 12"],
    ]
    assert [row[0] for row in rows[-2:]] == ["called unsupported", "called not whole"]
    sentence = found.sentence("mentions")
    assert "not swapped names (0 %)" in sentence
    assert "calls 0 % of your own summaries unsupported" in sentence


def test_a_check_that_knows_all_sees_all_and_one_that_knows_nothing_sees_nothing():
    documents, references = talks()
    true = dict(zip(documents, references, strict=True))
    perfect = sensitivity(lambda document, text: text != true[document], documents, references)
    assert {share.value for share in perfect.noticed.values()} == {1.0}
    blind = sensitivity(lambda document, text: False, documents, references)
    assert {share.value for share in blind.noticed.values()} == {0.0}
    assert not blind.answers
    assert blind.sentence("blind").startswith("blind does not see swapped names (0 %), ")
    # A check that always finds an error calls people's summaries wrong, and notices nothing new.
    always = sensitivity(lambda document, text: True, documents, references)
    assert always.refuses
    assert {share.of for share in always.noticed.values()} == {0}


def test_each_error_is_one_and_the_same_seed_plants_the_same():
    documents, references = talks()
    errors = list(planted(documents, references, 3))
    assert errors == list(planted(documents, references, 3))
    assert errors != list(planted(documents, references, 4))
    assert {kind for _, kind, _ in errors} == set(KINDS)
    for index, kind, text in errors:
        assert text != references[index]
        if kind == "swapped names":
            assert sorted(text.split()) == sorted(references[index].split())
        if kind == "changed number":
            found = text_mentions(documents[index], text, True)
            assert [one.supported for one in found].count(False) == 1


@pytest.mark.parametrize(
    ("document", "reference", "swapped"),
    [
        ("Yes, Al met Di.", "Also Al saw Di.", "Also Di saw Al."),  # no part of a word
        ("Yes, Ann Lee is Ann.", "So Ann came.", None),  # the same person
        ("#A#: So. #B#: Yes.", "So the#A#s saw #B#.", "So the#B#s saw #A#."),
    ],
)
def test_names_are_swapped_whole(document, reference, swapped):
    errors = {kind: text for _, kind, text in planted([document, "-"], [reference, "-"])}
    assert errors.get("swapped names") == swapped


def test_shares_have_wilson_s_interval():
    assert Share(0, 20).interval == pytest.approx((0.0, 0.161), abs=5e-4)
    assert Share(10, 20).interval == pytest.approx((0.299, 0.701), abs=5e-4)
    assert Share(0, 0).interval == (0.0, 1.0)


def test_what_is_refused():
    for given, said in ((("a", "b"), "got 1 and 1"), (("ab", "b"), "got 2 and 1")):
        with pytest.raises(BridoError, match=said):
            metric_sensitivity(METRIC, *map(list, given))
    with pytest.raises(BridoError, match=r"rouge does not say .*mentions, .*geval"):
        metric_sensitivity(find_metric("rouge"), ["a", "b"], ["b", "c"])


def test_a_mark_notices_what_makes_it_worse_and_has_no_verdict():
    """A metric without a threshold: of marks from 0 to 1 here."""
    documents, references = talks()

    def judge(numbers, texts):
        shares = [
            sum(word in documents[number] for word in text.split()) / len(text.split())
            for number, text in zip(numbers, texts, strict=True)
        ]
        return [Finding(share, None) for share in shares]

    found = measured(judge, 0.0, documents, references, 0)
    assert found.noticed["changed number"].value == 1
    assert found.noticed["swapped names"].value == 0
    assert found.unsupported.of == 0
    assert not found.refuses
    assert found.answers
    assert "unsupported" not in found.sentence("it")
    # A mark has to fall by more than a step, and what has no mark counts in nothing.
    assert measured(judge, 0.5, documents, references, 0).noticed["changed number"].value == 0
    none = measured(lambda numbers, texts: [None] * len(texts), 0.0, documents, references, 0)
    assert {share.of for share in none.noticed.values()} == {0}
