"""What votes.json says of made-up candidates whose truth is known, and its verdict in words."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from brido.report.page.vote_check import vote_check
from brido.stats import FEWEST
from brido.vote.check import pair_accuracy
from brido.vote.consensus import consensus_scores
from brido.vote.rankings import LIKELIHOODS, TRAINABLE, rankings, setting, without
from brido.vote.verdict import Judged, check_votes
from brido.vote.verdict_lines import verdict_lines
from brido.vote.verdict_text import legend, votes_text

DOCUMENTS, SIZE = 60, 5
HOW = Judged("a judge", 0.15)
EVERY = np.arange(DOCUMENTS)


def made(seed=0, own=None, **changes):
    """Candidates; `own` is how much is unsupported in each of the model's own outputs."""
    random = np.random.default_rng(seed)
    similarity = random.random((DOCUMENTS, SIZE, SIZE + 1))
    values = {
        "scores": consensus_scores(similarity, 0),
        "voters": np.ones((DOCUMENTS, SIZE), bool),
        "similarity": similarity,
        "unsupported": random.integers(0, 3, (DOCUMENTS, SIZE)),
        "words": random.integers(9, 12, (DOCUMENTS, SIZE)),
        "log_probability": random.normal(-20, 3, (DOCUMENTS, SIZE)),
        "tokens": random.integers(5, 9, (DOCUMENTS, SIZE)),
    }
    if own is not None:
        values["own_unsupported"] = np.full((DOCUMENTS, 1), own)
        values["own_words"] = values["words"][:, :1]
    return values | changes


UNSUPPORTED = made()["unsupported"].astype(float)
# Of each document the first candidate is elected.
FIRST = -np.tile(np.arange(SIZE), (DOCUMENTS, 1)).astype(float)


def of(found, documents):
    """The first documents alone."""
    return {name: values[:documents] for name, values in found.items()}


def test_every_ranking_has_its_accuracy_and_all_of_it_is_json():
    found = made(own=1)
    told = check_votes(found, HOW)
    json.dumps(told, allow_nan=False)
    for name, scores in rankings(found, HOW.prior).items():
        accuracy, pairs = pair_accuracy(scores, found["unsupported"], found["words"])
        assert told["accuracy"][name]["mean"] == pytest.approx(accuracy, abs=1e-6)
        assert told["accuracy"][name]["pairs"] == pairs
        elected = found["unsupported"][EVERY, scores.argmax(1)] > 0
        wrong = told["accuracy"][name]["elected_unsupported"]
        assert wrong == pytest.approx(elected.mean(), abs=1e-6)
    mean = rankings(found, HOW.prior)["mean_log_probability"]
    assert mean[3, 2] == found["log_probability"][3, 2] / found["tokens"][3, 2]


def test_the_verdict_follows_the_interval():
    same = {"own_unsupported": made()["unsupported"][:, :1], "own_words": made()["words"][:, :1]}
    for verdict, found in (
        ("beats", made(scores=-UNSUPPORTED, own=1)),
        ("loses", made(scores=UNSUPPORTED, own=0)),
        ("open", made(scores=FIRST, **same)),
    ):
        told = check_votes(found, HOW)
        assert told["election"]["verdict"] == verdict
    difference = {"mean": 0.0, "low": 0.0, "high": 0.0, "documents": 60}
    assert told["election"]["all"]["difference"] == difference


def test_an_election_by_hand():
    """Of four documents each first candidate is elected; the third's lengths are 10 and 20."""
    found = {
        "scores": np.array([[1.0, 0.0]] * 4), "voters": np.ones((4, 2), bool),
        "similarity": np.random.default_rng(0).random((4, 2, 3)),
        "unsupported": np.array([[0, 1], [2, 1], [0, 1], [1, 1]]),
        "words": np.array([[10, 9], [10, 9], [10, 9], [20, 9]]),
        "own_unsupported": np.array([[1], [1], [0], [0]]),
        "own_words": np.array([[10], [11], [20], [20]]),
    }  # fmt: skip
    told = check_votes(found, HOW)["election"]
    means = {
        part: [told[part][name]["mean"] for name in ("elected", "base", "difference")]
        for part in ("all", "equal_length")
    }
    assert means["all"] == [0.5, 0.5, 0.0]
    assert means["equal_length"] == pytest.approx([2 / 3, 2 / 3, 0.0], abs=1e-6)
    assert told["equal_length"]["elected"]["documents"] == 3


def test_the_verdict_has_the_answer_the_numbers_and_the_next_command():
    told = check_votes(made(scores=-UNSUPPORTED, own=1), HOW)
    answer, numbers, following = told["verdict"]
    share, gap = (told["election"]["all"][name] for name in ("elected", "difference"))
    vote = told["accuracy"]["vote"]
    assert f"{100 * share['mean']:.1f} % of 60 elected" in numbers
    assert f"[{100 * gap['low']:+.1f}, {100 * gap['high']:+.1f}]" in numbers
    assert f"[{vote['low']:.3f}, {vote['high']:.3f}] of {vote['pairs']:,} pairs" in numbers
    assert "scoring.shuffle=true" in following
    assert told["election"]["sentence"] == f"{answer} {numbers}"
    of_lines = verdict_lines(told, pipeline=False)
    assert of_lines[:2] == [answer, numbers]
    assert "dvc" not in of_lines[2]


@pytest.mark.parametrize("documents", [1, FEWEST - 1, FEWEST])
def test_few_documents_have_no_interval_and_no_difference(documents):
    told = check_votes(of(made(scores=-UNSUPPORTED, own=1), documents), HOW)
    few = documents < FEWEST
    assert (told["election"]["verdict"] == "few") == few
    assert (told["election"]["all"]["difference"]["low"] is None) == few
    assert ("[" in votes_text(told)) == (not few)
    assert ("points" in votes_text(told)) == (not few)
    assert (f"{documents} documents are fewer than {FEWEST}" in told["verdict"][0]) == few
    assert (
        f"of {documents} elected candidates and {documents} of base" in told["verdict"][1]
    ) == few


def test_candidates_that_are_no_basis_for_a_verdict_are_said_first():
    how = replace(HOW, warnings=["63 of 144 ended: see generation.base.max_length."])
    told = check_votes(made(scores=-UNSUPPORTED, own=1), how)
    assert told["warnings"] == list(how.warnings)
    assert "63 of 144 ended: see generation.base.max_length." in told["verdict"][0]
    assert "generation" in told["verdict"][2]


def test_of_the_control_nothing_is_foretold():
    told = check_votes(made(scores=-UNSUPPORTED, own=1), replace(HOW, shuffled=True))
    assert (told["election"]["verdict"], told["election"]["caution"]) == ("chance", "")


@pytest.mark.parametrize(("own", "shorter"), [(9, False), (10, False), (11, True)])
@pytest.mark.parametrize(("wrong", "verdict"), [(1, "beats"), (0, "loses")])
def test_what_may_come_from_length_is_said(own, shorter, wrong, verdict):
    found = made(scores=-UNSUPPORTED, words=np.full((DOCUMENTS, SIZE), 9), own=wrong)
    told = check_votes(found | {"own_words": np.full((DOCUMENTS, 1), own)}, HOW)
    assert told["election"]["verdict"] == verdict
    said = shorter and verdict == "beats"
    assert bool(told["election"]["caution"]) == said
    assert ("decoding.length_penalty" in told["verdict"][0]) == said


def test_where_nothing_is_unsupported_nothing_is_foretold():
    told = check_votes(made(unsupported=np.zeros((DOCUMENTS, SIZE), int), own=0), HOW)
    assert told["election"]["verdict"] == "nothing"
    assert "0.0 % of 60 elected" in told["verdict"][1]
    assert told["accuracy"]["vote"]["mean"] is None
    assert vote_check(told).bars == []


def test_who_cannot_be_elected_is_in_no_pair():
    found = made(own=1)
    eligible = np.random.default_rng(2).random((DOCUMENTS, SIZE)) < 0.7
    eligible[:, 0] = True
    scores = np.where(eligible, found["scores"], np.nan)
    told = check_votes(found | {"scores": scores}, HOW)
    wrong = np.where(eligible, found["unsupported"], np.nan)
    for name, values in rankings(found | {"scores": scores}, HOW.prior).items():
        accuracy, pairs = pair_accuracy(values, wrong, found["words"])
        assert told["accuracy"][name]["mean"] == pytest.approx(accuracy, abs=1e-6)
        assert told["accuracy"][name]["pairs"] == pairs
    elected = np.nanargmax(scores, 1)
    share = (found["unsupported"][EVERY, elected] > 0).mean()
    assert told["election"]["all"]["elected"]["mean"] == pytest.approx(share, abs=1e-6)


def test_without_references_likelihood_and_own_output_the_rest_is_said():
    found = made()
    found["similarity"][:, :, -1] = math.nan
    del found["log_probability"]
    told = check_votes(found, HOW)
    assert not {"half", "reference", "log_probability", "information"} & set(told["accuracy"])
    assert "election" not in told
    assert "what the model writes by itself is not known" in told["verdict"][0]


def knowing(**changes):
    """Candidates of which information knows what is good, and the vote does not."""
    random = np.random.default_rng(5)
    whole = random.random((DOCUMENTS, SIZE)) < 0.8
    good = whole & (UNSUPPORTED == 0)
    likelihood = random.normal(-20, 1, (DOCUMENTS, SIZE))
    return made(
        own=1,
        whole=whole,
        own_whole=np.ones((DOCUMENTS, 1), bool),
        copied=random.random((DOCUMENTS, SIZE)),
        log_probability=likelihood,
        prior=(likelihood - 9 * good) / HOW.prior,
        **changes,
    )


def test_good_is_asked_of_the_elected_and_of_base_s_own_output():
    found = knowing(scores=-UNSUPPORTED)
    told = check_votes(found, HOW)
    json.dumps(told, allow_nan=False)
    good = found["whole"] & (found["unsupported"] == 0)
    share = good[EVERY, found["scores"].argmax(1)].mean()
    assert told["election"]["good"]["elected"]["mean"] == pytest.approx(share, abs=1e-6)
    assert told["election"]["good"]["base"]["mean"] == 0.0
    assert f"{100 * share:.1f} % of the elected candidates and 0.0 % of" in told["verdict"][1]
    for name, scores in rankings(found, HOW.prior).items():
        wanted = good[EVERY, np.nanargmax(scores, 1)].mean()
        assert told["accuracy"][name]["elected_good"] == pytest.approx(wanted, abs=1e-6)


def test_what_copying_and_likelihood_say_is_taken_out():
    found = knowing()
    told = check_votes(found, HOW)
    compared = rankings(found, HOW.prior)
    assert told["taken_out"] == ["copying", *LIKELIHOODS]
    others = [found["copied"], *(compared[name] for name in LIKELIHOODS)]
    for name, scores in compared.items():
        left = told["accuracy"][name]["beyond"]
        if name in LIKELIHOODS:
            assert left is None
            continue
        wanted, _ = pair_accuracy(without(scores, others), found["unsupported"], found["words"])
        assert left["mean"] == pytest.approx(wanted, abs=1e-6)
        assert left["low"] <= left["mean"] <= left["high"]
    (beyond,) = [text for text in legend(told) if text.startswith("Beyond: ")]
    assert "copying" in beyond
    assert "log p" in beyond


def test_the_verdict_names_the_signal_to_train_on():
    told = check_votes(knowing(), HOW)
    assert told["signal"]["name"] == "information"
    assert told["signal"]["difference"]["low"] > 0
    assert (
        "scoring.information=1 -S scoring.prior_weight=0.1 -S scoring.support=0`"
        in told["verdict"][2]
    )
    assert "dvc" not in verdict_lines(told, pipeline=False)[2]
    # What the run has set already is left out.
    now = check_votes(knowing(), replace(HOW, scoring={"support": 0.0, "information": 0.0}))
    assert "-S scoring.information=1 -S scoring.prior_weight=0.1`" in now["verdict"][2]
    # Where the run's own order is as good, nothing else is named.
    good = knowing()
    own = good["log_probability"] - HOW.prior * good["prior"]
    assert check_votes(good | {"scores": own}, HOW)["signal"]["name"] == "vote"
    # Nothing is named of the control, of few documents, or where candidates are no basis.
    assert "signal" not in check_votes(good, replace(HOW, shuffled=True))
    assert "signal" not in check_votes(of(good, FEWEST - 1), HOW)
    told = check_votes(good, replace(HOW, warnings=["63 of 144 ended."]))
    assert "generation" in told["verdict"][2]


def test_nothing_is_named_that_is_worse_than_base():
    """Information elects better candidates than the vote, but base's own output is good always."""
    told = check_votes(knowing(own_unsupported=np.zeros((DOCUMENTS, 1), int)), HOW)
    assert told["signal"]["name"] == "information"
    assert told["election"]["good"]["base"]["mean"] > told["signal"]["elected"]["mean"]
    assert "scoring.information" not in told["verdict"][2]
    assert "generation" in told["verdict"][2]


@pytest.mark.parametrize("name", ["information", *TRAINABLE])
def test_a_setting_names_only_what_a_run_has_not_set(name):
    wanted = TRAINABLE.get(name, {"information": 1, "prior_weight": 0.1, "support": 0})
    for key, value in wanted.items():
        assert setting(name, wanted | {key: 0.25}, 0.1) == f"scoring.{key}={value:g}"
    assert setting(name, {}, 0.1).count("scoring.") == len(wanted)


NONE, SOME = np.zeros((DOCUMENTS, 1), bool), np.ones((DOCUMENTS, 1), bool)


@pytest.mark.parametrize(
    ("verdict", "good", "scores", "own", "whole", "own_whole", "said"),
    [
        ("beats", "more", -UNSUPPORTED, 1, 1, NONE, "should help"),
        ("beats", "less", -UNSUPPORTED, None, 0, SOME, "should help"),
        ("loses", "less", UNSUPPORTED, 0, 1, SOME, "may not"),
        ("loses", "more", UNSUPPORTED, None, 1, NONE, "may not"),
        ("open", "less", FIRST, None, 0, SOME, "cannot tell"),
        ("open", "more", FIRST, None, 1, NONE, "cannot tell"),
        ("nothing", "less", -UNSUPPORTED, 0, 0, SOME, "cannot tell"),
        ("nothing", "more", -UNSUPPORTED, 0, 1, NONE, "cannot tell"),
    ],
)
def test_the_answer_says_what_is_known_of_good_candidates(
    verdict, good, scores, own, whole, own_whole, said
):
    """Good is more or less than unsupported details: a text must be whole as well."""
    found = made(scores=scores, own=0 if own is None else own, own_whole=own_whole)
    found["whole"] = np.full((DOCUMENTS, SIZE), bool(whole))
    if verdict == "nothing":
        found["unsupported"] = np.zeros((DOCUMENTS, SIZE), int)
    elif verdict == "open":
        found["own_unsupported"] = found["unsupported"][:, :1]
    elif own is None:
        # Half of base's own outputs have an unsupported detail, fewer or more than the elected.
        found["own_unsupported"] = (EVERY % 2)[:, None]
        if verdict == "loses":
            found["unsupported"] = np.where(EVERY[:, None] % 4 == 0, 0, 1 + found["unsupported"])
    told = check_votes(found, HOW)
    assert told["election"]["verdict"] == verdict
    gap = told["election"]["good"]["difference"]
    assert (gap["low"] > 0, gap["high"] < 0) == (good == "more", good == "less")
    answer, _, following = told["verdict"]
    assert said in answer
    assert ("good more" in answer, "good less" in answer) == (good == "more", good == "less")
    assert ("generation" in following) == (said == "may not")


def test_the_text_has_a_row_a_ranking_and_ends_in_the_verdict():
    found = made(support=np.random.default_rng(1).random((DOCUMENTS, SIZE)), own=1)
    told = check_votes(found, HOW)
    lines = votes_text(told).splitlines()
    text = " ".join(" ".join(lines).split())
    for item in told["accuracy"].values():
        assert f"{item['mean']:.3f} [{item['low']:.3f}, {item['high']:.3f}]" in text
    assert text.endswith(" ".join(told["verdict"]))
    assert max(map(len, lines)) <= 100
    how = replace(HOW, other_writers=["served"], rules="whole: so")
    whole = check_votes(knowing(), how)
    text = votes_text(whole)
    assert "(served)" in text
    assert " so. " in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    for item in whole["accuracy"].values():
        (row,) = [line for line in text.splitlines() if line.startswith(f"{item['label']} ")]
        assert row.split()[-2:] == [f"{100 * item['elected_good']:.1f}", "%"]
    assert [bar.mean for bar in vote_check(told).bars] == [
        item["mean"] for item in told["accuracy"].values()
    ]
