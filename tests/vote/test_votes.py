"""What votes.json says of made-up candidates whose truth is known, and its sentences."""

import json
import math
import re
from dataclasses import replace
from textwrap import fill

import numpy as np
import pytest

from brido.report.page.data import vote_check
from brido.stats import FEWEST
from brido.vote.check import pair_accuracy
from brido.vote.consensus import consensus_scores
from brido.vote.rankings import LABELS, fixed_orders, left_of, preferences
from brido.vote.votes import CheckSettings, check_votes
from brido.vote.votes_text import (
    beside,
    election_sentence,
    legend,
    table_rows,
    taken_out,
    votes_text,
)

DOCUMENTS, SIZE = 60, 5
HOW = CheckSettings("a judge", 0.15)
EVERY = np.arange(DOCUMENTS)


def made(seed=0, own=1, **changes):
    """Candidates, and their vote; `own` is what is unsupported in the model's own outputs."""
    random = np.random.default_rng(seed)
    similarity = random.random((DOCUMENTS, SIZE, SIZE + 1))
    values = {
        "voters": np.ones((DOCUMENTS, SIZE), bool),
        "similarity": similarity,
        "unsupported": random.integers(0, 3, (DOCUMENTS, SIZE)),
        "words": random.integers(9, 12, (DOCUMENTS, SIZE)),
        "whole": random.random((DOCUMENTS, SIZE)) < 0.8,
        "copied": random.random((DOCUMENTS, SIZE)),
        "log_probability": random.normal(-20, 3, (DOCUMENTS, SIZE)),
        "prior": random.normal(-60, 3, (DOCUMENTS, SIZE)),
        "tokens": random.integers(5, 9, (DOCUMENTS, SIZE)),
        "own_unsupported": np.full((DOCUMENTS, 1), own),
        "own_whole": np.ones((DOCUMENTS, 1), bool),
    }
    return values | changes, {"vote": consensus_scores(similarity, 0)}


def test_every_order_has_its_numbers_and_all_of_it_is_json():
    arrays, orders = made()
    eligible = np.random.default_rng(2).random((DOCUMENTS, SIZE)) < 0.7
    eligible[:, 0] = True
    orders["vote"] = np.where(eligible, orders["vote"], np.nan)
    orders["likely"] = np.where(eligible, arrays["log_probability"], np.nan)
    check = check_votes(arrays, orders, replace(HOW, equal={"vote": ["flat"]}))
    json.dumps(check, allow_nan=False)
    assert check["orders"]["vote"]["names"] == ["vote", "flat"]
    assert check["orders"]["vote"]["label"] == "vote, flat"
    fixed = fixed_orders(arrays, orders["vote"])
    # An order of the run is not repeated.
    assert set(check["fixed"]) == set(fixed) - {"log_probability", "consensus"}
    wrong = np.where(eligible, arrays["unsupported"], np.nan)
    good = arrays["whole"] & (arrays["unsupported"] == 0)
    rows = check["orders"] | check["fixed"]
    assert check["taken_out"] == ["copied", "log_probability", "mean_log_probability", "length"]
    for name, row in rows.items():
        scores = (orders | fixed)[name]
        accuracy, pairs = pair_accuracy(scores, wrong, arrays["words"])
        assert (row["mean"], row["pairs"]) == (pytest.approx(accuracy, abs=1e-6), pairs)
        elected = np.nanargmax(scores, 1)
        unsupported = (arrays["unsupported"][EVERY, elected] > 0).mean()
        assert row["elected_unsupported"] == pytest.approx(unsupported, abs=1e-6)
        assert row["elected_good"] == pytest.approx(good[EVERY, elected].mean(), abs=1e-6)
        if name in ("copied", "mean_log_probability", "shorter"):
            assert row["left"] is None
            continue
        left = left_of(scores, preferences(arrays))
        accuracy, pairs = pair_accuracy(left, wrong, arrays["words"])
        assert row["left"]["mean"] == pytest.approx(accuracy, abs=1e-6)
        assert row["left"]["low"] <= row["left"]["mean"] <= row["left"]["high"]
        assert row["left"]["pairs"] == pairs
    # Nothing is left of base's own log p.
    assert check["orders"]["likely"]["left"]["mean"] == 0.5


def test_the_check_says_how_it_was_made_and_is_the_same_again():
    for seed in range(4):
        arrays, orders = made(seed, own=seed % 2)
        check = check_votes(arrays, orders, replace(HOW, tolerance=0.0, rules="whole: so"))
        assert check["bootstrap"] == {"samples": 1000, "confidence": 0.95, "seed": 0}
        assert (check["judge"], check["rules"]) == ("a judge", "whole: so")
        assert (check["length_tolerance"], check["documents"]) == (0.0, DOCUMENTS)
        accuracy, pairs = pair_accuracy(orders["vote"], arrays["unsupported"], arrays["words"], 0)
        row = check["orders"]["vote"]
        assert (row["mean"], row["pairs"]) == (pytest.approx(accuracy, abs=1e-6), pairs)
        again = check_votes(arrays, orders, replace(HOW, tolerance=0.0, rules="whole: so"))
        assert again == check


def test_base_without_whole_texts_is_compared_by_what_is_unsupported_alone():
    arrays, orders = made()
    del arrays["own_whole"]
    election = check_votes(arrays, orders, HOW)["election"]
    assert set(election) == {"order", "unsupported", "sentence"}


def test_an_election_by_hand():
    """Of four documents each first candidate is elected."""
    arrays = {
        "voters": np.ones((4, 2), bool),
        "similarity": np.random.default_rng(0).random((4, 2, 3)),
        "unsupported": np.array([[0, 1], [2, 1], [0, 1], [0, 1]]),
        "words": np.array([[10, 9]] * 4),
        "whole": np.array([[1, 1], [1, 1], [0, 1], [1, 1]], bool),
        "own_unsupported": np.array([[1], [1], [0], [0]]),
        "own_whole": np.array([[1], [1], [0], [0]], bool),
    }
    election = check_votes(arrays, {"mine": np.array([[1.0, 0.0]] * 4)}, HOW)["election"]
    shares = {
        kind: [election[kind][who]["mean"] for who in ("elected", "base", "difference")]
        for kind in ("unsupported", "good")
    }
    assert shares == {"unsupported": [0.25, 0.5, -0.25], "good": [0.5, 0.0, 0.5]}
    assert election["order"] == "mine"
    assert "`mine`" in election["sentence"]
    assert "in 2 of 4 documents, base's own output in 0;" in election["sentence"]


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(-0.2, 0.1, 0), (-0.1, 0.2, 0), (0.0, 0.2, 0), (-0.2, 0.0, 0), (0.0, 0.0, 0),
     (6e-4, 0.2, 1), (4e-4, 0.2, 0), (-0.2, -6e-4, -1), (-0.2, -4e-4, 0)],
)  # fmt: skip
@pytest.mark.parametrize("value", [0.0, 0.5])
def test_an_interval_lies_beside_a_value_or_holds_it(low, high, side, value):
    share = {"mean": value + (low + high) / 2, "low": value + low, "high": value + high}
    assert beside(share, value) == side


@pytest.mark.parametrize(
    ("gap", "points", "sure"),
    [
        ((0.0121, 0.0002, 0.0240), "+1.2 points [+0.0, +2.4]", False),
        ((0.0121, 0.0006, 0.0240), "+1.2 points [+0.1, +2.4]", True),
        ((-0.0002, -0.0100, 0.0096), "+0.0 points [-1.0, +1.0]", False),
    ],
)
def test_a_sentence_says_what_its_digits_say(gap, points, sure):
    shares = {"elected": {"mean": 0.2, "documents": 3000}, "base": {"mean": 0.19}}
    shares["difference"] = dict(zip(("mean", "low", "high"), gap, strict=True))
    sentence = election_sentence({"order": "vote", "unsupported": shares})
    assert points in sentence
    assert ("more often" in sentence) == sure
    assert ("chance" in sentence) != sure


def elected(wrong, own_wrong, **more):
    """A check of which the elected and base's own outputs are unsupported in these documents."""
    flags = np.zeros((DOCUMENTS, 2), int)
    flags[wrong, 0] = 1
    own = np.zeros((DOCUMENTS, 1), int)
    own[own_wrong] = 1
    arrays, _ = made()
    arrays = {
        "voters": np.ones((DOCUMENTS, 2), bool),
        "similarity": arrays["similarity"][:, :2, [0, 1, 5]],
        "unsupported": flags,
        "words": np.full((DOCUMENTS, 2), 9),
        "own_unsupported": own,
        **more,
    }
    return check_votes(arrays, {"vote": np.array([[1.0, 0.0]] * DOCUMENTS)}, HOW)["election"]


def said(sentence, mark):
    """Which of "more" and "less" often a sentence says, 0 if it says neither."""
    assert mark in sentence
    return ("more often" in sentence) - ("less often" in sentence)


def percents(text):
    return re.findall(r"\d+(?:\.\d)? %", text)


WHOLE = {"whole": np.ones((DOCUMENTS, 2), bool), "own_whole": np.ones((DOCUMENTS, 1), bool)}


@pytest.mark.parametrize("good", [False, True])
def test_the_sentence_of_the_election_follows_the_interval(good):
    """The difference is off 0 by more and more documents, in both directions."""
    more, mark, sign = (WHOLE, "good", -1) if good else ({}, "unsupported", 1)
    seen = set()
    for few in range(13):
        for first, second, side in ((few, 0, sign), (0, few, -sign)):
            election = elected(slice(first), slice(DOCUMENTS - second, DOCUMENTS), **more)
            gap = election[mark]["difference"]
            assert gap["mean"] == pytest.approx(side * few / DOCUMENTS, abs=1e-6)
            surely = gap["low"] > 0 or gap["high"] < 0
            assert said(election["sentence"], mark) == (side if surely else 0)
            assert f"[{100 * gap['low']:+.1f}, {100 * gap['high']:+.1f}]" in election["sentence"]
            shares = [election[mark][who]["mean"] for who in ("elected", "base")]
            assert percents(election["sentence"]) == [f"{100 * share:.1f} %" for share in shares]
            assert f"of {DOCUMENTS} documents" in election["sentence"]
            assert ("good" in election["sentence"]) == good
            touches = few > 0 and 0 in (gap["low"], gap["high"])
            seen.add((side, surely, touches))
    # An interval that touches 0, and one beside it, in both directions.
    assert {(s, b, not b) for s in (-1, 1) for b in (True, False)} <= seen


@pytest.mark.parametrize("good", [False, True])
@pytest.mark.parametrize(("wrong", "own_wrong"), [(20, 22), (22, 20)])
def test_an_interval_around_0_decides_nothing(good, wrong, own_wrong):
    more, mark = (WHOLE, "good") if good else ({}, "unsupported")
    election = elected(slice(wrong), slice(DOCUMENTS - own_wrong, DOCUMENTS), **more)
    gap = election[mark]["difference"]
    assert gap["low"] < 0 < gap["high"]
    assert gap["mean"] != 0
    assert said(election["sentence"], mark) == 0
    assert f"{100 * gap['mean']:+.1f} points" in election["sentence"]


def test_the_sentence_of_what_is_left_follows_the_interval():
    """One pair a document; the order is right in 0, 1, 2, ... of them."""
    arrays, _ = made()
    arrays = {
        "voters": np.ones((DOCUMENTS, 2), bool),
        "similarity": arrays["similarity"][:, :2, [0, 1, 5]],
        "unsupported": np.array([[0, 1]] * DOCUMENTS),
        "words": np.full((DOCUMENTS, 2), 9),
    }
    seen = set()
    for right in range(DOCUMENTS + 1):
        scores = np.array([[1.0, 0.0]] * right + [[0.0, 1.0]] * (DOCUMENTS - right))
        check = check_votes(arrays, {"vote": scores}, HOW)
        left, (sentence,) = check["orders"]["vote"]["left"], check["lines"]
        assert left["mean"] == pytest.approx(right / DOCUMENTS, abs=1e-6)
        side = (left["low"] > 0.5) - (left["high"] < 0.5)
        assert said(sentence, f"[{left['low']:.3f}, {left['high']:.3f}] of 60 pairs") == side
        assert "`vote`" in sentence
        seen.add((side, np.sign(left["mean"] - 0.5), 0.5 in (left["low"], left["high"])))
    # Around chance and beside it, in both directions, and touching it.
    for sign in (-1, 1):
        assert {(0, sign, False), (sign, sign, False)} <= seen
    assert (0, -1, True) in seen


def test_of_an_order_that_repeats_base_nothing_is_left():
    """Its accuracy is 1, and the sentence is of what is left."""
    arrays, _ = made()
    arrays["log_probability"] = -1.0 - arrays["unsupported"]
    check = check_votes(arrays, {"likely": arrays["log_probability"]}, HOW)
    row = check["orders"]["likely"]
    assert row["low"] == 1.0
    assert (row["left"]["low"], row["left"]["high"]) == (0.5, 0.5)
    assert said(check["lines"][-1], "[0.500, 0.500]") == 0


def test_the_lines_are_the_warnings_the_election_and_what_is_left():
    arrays, orders = made()
    warnings = ["63 of 144 ended: see generation.base.max_length."]
    check = check_votes(arrays, orders, replace(HOW, warnings=warnings))
    first, second, third = check["lines"]
    assert warnings[0] in first
    assert second == check["election"]["sentence"]
    left = check["orders"]["vote"]["left"]
    assert f"{left['mean']:.3f} [{left['low']:.3f}, {left['high']:.3f}]" in third
    for name in ("own_unsupported", "own_whole"):
        del arrays[name]
    check = check_votes(arrays, orders, HOW)
    assert "election" not in check
    assert len(check["lines"]) == 1


@pytest.mark.parametrize("documents", [1, FEWEST - 1, FEWEST])
def test_few_documents_have_no_interval(documents):
    arrays, orders = made()
    arrays = {name: values[:documents] for name, values in arrays.items()}
    check = check_votes(arrays, {"vote": orders["vote"][:documents]}, HOW)
    few = documents < FEWEST
    for who in ("elected", "base", "difference"):
        ends = [check["election"]["good"][who][end] for end in ("low", "high")]
        assert (ends == [None, None]) == few
        assert (None in ends) == few
    assert ("[" in votes_text(check)) == (not few)
    assert ("points" in votes_text(check)) == (not few)
    assert (f"of {documents} documents, base's own output in 0;" in check["lines"][0]) == few
    assert ("(chance: 0.500); pairs of fewer than 20 documents" in check["lines"][-1]) == few
    assert ("[" in vote_check(check).bars[0].text) == (not few)


def test_an_order_without_scores_for_a_document_elects_no_candidate():
    """Half of the documents have no reference; of these the first candidates are unsupported."""
    arrays, orders = made()
    arrays["similarity"][::2, :, -1] = math.nan
    arrays["unsupported"][:] = 0
    arrays["unsupported"][::2, 0] = 1
    arrays["whole"][:] = True
    arrays["whole"][::2] = False
    rows = check_votes(arrays, orders, HOW)["fixed"]
    for name in ("half", "reference"):
        assert (rows[name]["elected_unsupported"], rows[name]["elected_good"]) == (0.0, 1.0)
    assert rows["shorter"]["elected_good"] == 0.5


@pytest.mark.parametrize("documents", [1, FEWEST - 1, FEWEST])
def test_pairs_of_few_documents_decide_nothing_however_many_documents_have_none(documents):
    arrays, _ = made()
    arrays["unsupported"][:] = 0
    arrays["unsupported"][:documents, 1:] = 1
    arrays["words"][:] = 9
    del arrays["log_probability"], arrays["copied"]
    orders = {"vote": -arrays["unsupported"].astype(float)}
    check = check_votes(arrays, orders, HOW)
    few, left = documents < FEWEST, check["orders"]["vote"]["left"]
    assert (left["mean"], left["pairs"]) == (1.0, documents * (SIZE - 1))
    assert said(check["lines"][-1], "1.000") == (0 if few else 1)
    assert ((left["low"], left["high"]) == (None, None)) == few
    (bar, *_), (row, *_) = vote_check(check).bars, table_rows(check)
    assert (bar.low, bar.high) == (1.0, 1.0)
    assert ("[" in bar.text) == ("[" in row[1]) == ("[" in row[2]) == (not few)
    json.dumps(check, allow_nan=False)


def test_where_nothing_is_unsupported_no_accuracy_is_known():
    arrays, orders = made(own=0, unsupported=np.zeros((DOCUMENTS, SIZE), int))
    check = check_votes(arrays, orders, HOW)
    assert check["orders"]["vote"]["mean"] is None
    assert check["orders"]["vote"]["left"]["mean"] is None
    assert "not known" in check["lines"][-1]
    assert vote_check(check).bars == []
    assert "nan" not in votes_text(check)


def test_the_text_has_a_row_an_order_and_ends_in_the_lines():
    arrays, orders = made()
    how = replace(HOW, other_writers=["served"], rules="whole: so", equal={"vote": ["x" * 40]})
    check = check_votes(arrays, orders, how)
    lines = votes_text(check).splitlines()
    text = " ".join(" ".join(lines).split())
    for row in (*check["orders"].values(), *check["fixed"].values()):
        cells = [
            "–" if one is None else f"{one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"
            for one in (row["left"], row)
        ]
        shares = [f"{100 * row[f'elected_{kind}']:.1f} %" for kind in ("unsupported", "good")]
        assert " ".join([*cells, *shares]) in text
    assert text.endswith(" ".join(check["lines"]))
    assert max(map(len, lines)) <= 100
    assert "(served)" in text
    assert " has so. " in text
    own = f"base's own output – – {100.0:.1f} % {0.0:.1f} %"
    assert own in text
    # A table, the legend, and the lines, as wide as a terminal.
    _, texts, last = "\n".join(lines).split("\n\n")
    assert texts == "\n".join(fill(text, 100, subsequent_indent="  ") for text in legend(check))
    assert last == "\n".join(fill(line, 100) for line in check["lines"])
    (left,) = [line for line in legend(check) if line.startswith("Left: ")]
    assert "copying, base's log p and length" in left
    (information,) = [line for line in legend(check) if line.startswith("Information alone: ")]
    assert f"{check['prior_weight']:g}" in information


def test_what_is_not_known_is_not_shown():
    arrays, orders = made()
    arrays["similarity"][:, :, -1] = math.nan
    for name in ("whole", "own_whole", "copied", "log_probability", "prior", "tokens"):
        del arrays[name]
    check = check_votes(arrays, orders, HOW)
    assert list(check["fixed"]) == ["shorter", "shuffled"]
    assert check["taken_out"] == ["length"]
    assert "good" not in check["election"]
    assert " good" not in votes_text(check).splitlines()[0]
    assert "elected_good" not in check["orders"]["vote"]
    assert taken_out(check) == "length"
    assert table_rows(check)[-1][1:] == ["–", "–", "100.0 %", "–"]
    assert not [text for text in legend(check) if text.startswith(("Whole", "Base also"))]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["copied", "length"], "copying and length"),
        (["log_probability", "mean_log_probability", "length"], "base's log p and length"),
    ],
)
def test_what_was_taken_out_is_a_list(names, said):
    assert taken_out({"taken_out": names}) == said


def test_no_two_rows_have_one_name():
    arrays, orders = made()
    orders = dict.fromkeys(("vote", "information", "copied", "consensus"), orders["vote"])
    check = check_votes(arrays, orders, HOW)
    labels = [row["label"] for row in (*check["orders"].values(), *check["fixed"].values())]
    assert len(labels) == len(set(labels)), labels


def test_numbers_end_below_the_end_of_their_heading():
    arrays, orders = made()
    head, rule, *rows = votes_text(check_votes(arrays, orders, HOW)).split("\n\n")[0].splitlines()
    assert set(rule) <= {"─", " "}
    labels = ["vote", *(LABELS[name] for name in LABELS if name not in ("consensus", "support"))]
    assert [row.split("  ")[0] for row in rows] == [*labels, "base's own output"]
    start, *ends = (match.span() for match in re.finditer(r"\S+(?: \S+)*", head))
    assert start == (0, len("order"))
    assert len(ends) == 4
    for row in rows:
        cells = [match.end() for match in re.finditer(r"\S+(?: \S+)*", row)]
        assert cells[1:] == [end for _, end in ends]


def test_a_long_name_breaks_and_numbers_do_not():
    arrays, orders = made()
    check = check_votes(arrays, orders, replace(HOW, equal={"vote": ["another"] * 9}))
    lines = votes_text(check).splitlines()
    for heading in ("better one first", *table_rows(check)[0][1:]):
        assert any(heading in line for line in lines)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(("tolerance", "marks"), [(0.0, []), (0.15, ["15 %"]), (0.5, ["50 %"])])
def test_the_legend_says_how_the_check_was_made(tolerance, marks):
    arrays, orders = made()
    first, *texts = legend(check_votes(arrays, orders, replace(HOW, tolerance=tolerance)))
    assert f"{DOCUMENTS} documents" in first
    assert "a judge" in first
    (better,) = [text for text in texts if text.startswith("Better one first: ")]
    assert percents(better) == marks
    assert "0.500" in better
