"""What votes.json says of made-up candidates whose truth is known."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from brido.report.knowledge import votes_text
from brido.report.page.vote_check import bars, vote_check
from brido.vote.check import pair_accuracy
from brido.vote.consensus import consensus_scores
from brido.vote.verdict import Candidates, Judged, check_votes, rankings

DOCUMENTS, SIZE = 60, 5
HOW = Judged("a judge", 0.15)


def made(seed=0, **changes):
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
    return Candidates(**(values | changes))


def own_of(found, wrong):
    return np.full(DOCUMENTS, wrong), found.words[:, 0]


def test_every_ranking_has_its_accuracy_and_all_of_it_is_json():
    found = made()
    told = check_votes(found, own_of(found, 1), HOW)
    json.dumps(told, allow_nan=False)
    for name, scores in rankings(found).items():
        accuracy, pairs = pair_accuracy(scores, found.unsupported, found.words)
        assert told["accuracy"][name]["mean"] == pytest.approx(accuracy, abs=1e-6)
        assert told["accuracy"][name]["pairs"] == pairs
        elected = found.unsupported[np.arange(DOCUMENTS), scores.argmax(1)] > 0
        wrong = told["accuracy"][name]["elected_unsupported"]
        assert wrong == pytest.approx(elected.mean(), abs=1e-6)
    mean = rankings(found)["mean_log_probability"]
    assert mean[3, 2] == found.log_probability[3, 2] / found.tokens[3, 2]


def test_the_verdict_follows_the_interval():
    found = made()
    best = made(scores=-found.unsupported.astype(float))
    assert check_votes(best, own_of(best, 1), HOW)["election"]["verdict"] == "beats"
    worst = made(scores=found.unsupported.astype(float))
    told = check_votes(worst, own_of(worst, 0), HOW)["election"]
    assert told["verdict"] == "loses"
    assert "equal length no better, or worse" in told["sentence"]
    same = found.unsupported[:, 0], found.words[:, 0]
    first = made(scores=-np.tile(np.arange(SIZE), (DOCUMENTS, 1)).astype(float))
    told = check_votes(first, same, HOW)["election"]
    assert told["verdict"] == "open"
    assert told["all"]["difference"] == {"mean": 0.0, "low": 0.0, "high": 0.0, "documents": 60}


def test_of_the_control_nothing_is_foretold():
    best = made(scores=-made().unsupported.astype(float))
    how = replace(HOW, chance=True)
    told = check_votes(best, own_of(best, 1), how)["election"]
    assert (told["verdict"], told["caution"]) == ("chance", "")
    assert told["sentence"].startswith("The control, scores dealt out at random: ")
    assert told["sentence"].endswith("What tuning on them gains is not the vote's.")
    first, second, *_ = vote_check(check_votes(best, own_of(best, 1), how)).sentences
    assert "control" in first
    assert "does not come from the vote" in second


def test_what_may_be_shortness_alone_is_said():
    found = made()
    best = made(scores=-found.unsupported.astype(float), words=np.full((DOCUMENTS, SIZE), 9))
    for own, said in ((9, False), (10, False), (11, True)):
        for wrong, verdict in ((1, "beats"), (0, "loses")):
            base = np.full(DOCUMENTS, wrong), np.full(DOCUMENTS, own)
            told = check_votes(best, base, HOW)["election"]
            assert told["verdict"] == verdict
            words = f"the elected have 9.0 words, what base writes {own:.1f}"
            assert (words in told["sentence"]) == (said and verdict == "beats")
            assert told["sentence"].endswith(told["caution"])


def test_where_nothing_is_unsupported_nothing_is_foretold():
    clean = made(unsupported=np.zeros((DOCUMENTS, SIZE), int))
    told = check_votes(clean, own_of(clean, 0), HOW)["election"]
    assert told["verdict"] == "nothing"
    assert told["sentence"].startswith("Nothing was found to judge by: 0.0 % of the elected")
    assert told["sentence"].endswith("Nothing can be said of tuning on this vote.")


def test_the_second_sentence_compares_with_likelihood_and_reference():
    found = made()
    good, bad = -found.unsupported.astype(float), found.unsupported.astype(float)
    similarity = found.similarity.copy()
    similarity[:, :, -1] = good
    sentence = check_votes(
        made(scores=good, log_probability=bad, similarity=similarity), None, HOW
    )["knows"]["sentence"]
    assert "more than base's likelihood and not measurably more than the reference" in sentence
    sentence = check_votes(made(scores=bad, log_probability=good), None, HOW)["knows"]["sentence"]
    assert "less than base's likelihood" in sentence


def test_who_cannot_be_elected_is_in_no_pair():
    found = made()
    eligible = np.random.default_rng(2).random((DOCUMENTS, SIZE)) < 0.7
    eligible[:, 0] = True
    scores = np.where(eligible, found.scores, np.nan)
    told = check_votes(made(scores=scores), own_of(found, 1), HOW)
    wrong = np.where(eligible, found.unsupported, np.nan)
    for name, values in rankings(found).items():
        accuracy, pairs = pair_accuracy(values, wrong, found.words)
        assert told["accuracy"][name]["mean"] == pytest.approx(accuracy, abs=1e-6)
        assert told["accuracy"][name]["pairs"] == pairs
    elected = np.nanargmax(scores, 1)
    share = (found.unsupported[np.arange(DOCUMENTS), elected] > 0).mean()
    assert told["election"]["all"]["elected"]["mean"] == pytest.approx(share, abs=1e-6)


def test_without_references_or_pairs_something_sensible_is_said():
    found = made()
    similarity = found.similarity.copy()
    similarity[:, :, -1] = math.nan
    told = check_votes(made(similarity=similarity, log_probability=None), None, HOW)
    assert not {"half", "reference", "log_probability"} & set(told["accuracy"])
    assert "election" not in told
    told = check_votes(made(unsupported=np.zeros((DOCUMENTS, SIZE), int)), None, HOW)
    assert "nothing can be said" in told["knows"]["sentence"]
    assert told["accuracy"]["vote"]["mean"] is None
    assert bars(told) == []
    assert "nothing can be said" in " ".join(votes_text(told).split())


def test_the_text_has_a_row_a_ranking():
    found = made(support=np.random.default_rng(1).random((DOCUMENTS, SIZE)))
    told = check_votes(found, own_of(found, 1), HOW)
    text = " ".join(votes_text(told).split())
    for item in told["accuracy"].values():
        assert f"{item['mean']:.3f} [{item['low']:.3f}, {item['high']:.3f}]" in text
    assert told["election"]["sentence"] in text
    assert [bar.mean for bar in bars(told)] == [item["mean"] for item in told["accuracy"].values()]
