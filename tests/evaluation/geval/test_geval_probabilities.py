"""Probability-weighted marks, with the arithmetic written out."""

from math import log

import pytest

from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.parsing import Missing
from brido.evaluation.geval.probabilities import weighted_marks


def test_the_mean_under_the_renormalised_probabilities_of_the_marks():
    # p(4) = 0.5, p(5) = 0.2, p(3) = 0.1; 0.2 is on no mark: (4*.5 + 5*.2 + 3*.1) / .8 = 4.125
    alternatives = [("4", log(0.5)), (" 5", log(0.2)), ("3", log(0.1)), ("four", log(0.2))]
    tokens = [('{"coherence": ', None), ("4", alternatives), ("}", None)]
    assert weighted_marks(tokens, ["coherence"]) == {"coherence": pytest.approx(4.125)}


def test_alternatives_off_the_scale_do_not_count():
    # Fluency ends at 3: p(3) = 0.6, p(2) = 0.2 remain of 0.6 + 0.2 + 0.1 + 0.1.
    alternatives = [("3", log(0.6)), ("2", log(0.2)), ("5", log(0.1)), ("0", log(0.1))]
    tokens = [("Fluency", None), (":", None), (" 3", [(f" {t}", p) for t, p in alternatives])]
    assert weighted_marks(tokens, ["fluency"]) == {"fluency": pytest.approx(2.2 / 0.8)}


def test_the_same_mark_in_several_tokens_adds_up():
    alternatives = [("4", log(0.3)), (" 4", log(0.3)), ('"4"', log(0.1)), ("2", log(0.3))]
    tokens = [("coherence: ", None), ("4", alternatives)]
    assert weighted_marks(tokens, ["coherence"])["coherence"] == pytest.approx(4 * 0.7 + 2 * 0.3)


def test_each_criterion_is_read_at_its_own_token():
    tokens = [("{", None)]
    for index, criterion in enumerate(CRITERIA):
        certain = [(str(1 + index % 3), 0.0)]
        tokens += [
            (f'"{criterion}', None),
            ('": ', None),
            (str(1 + index % 3), certain),
            (", ", None),
        ]
    marks = weighted_marks(tokens, CRITERIA)
    assert marks == {"coherence": 1.0, "consistency": 2.0, "fluency": 3.0, "relevance": 1.0}


def test_a_token_that_joins_the_digit_with_its_surroundings():
    joined = [(': "4"', log(0.5)), (': "2"', log(0.5))]
    assert weighted_marks([('"coherence"', None), (': "4"', joined)], ["coherence"]) == {
        "coherence": pytest.approx(3.0)
    }


def test_a_bare_number_answers_one_criterion_only():
    tokens = [("4", [("4", log(0.5)), ("5", log(0.5))])]
    assert weighted_marks(tokens, ["coherence"]) == {"coherence": pytest.approx(4.5)}
    assert weighted_marks(tokens, CRITERIA)["coherence"] == Missing("missing")


def test_the_last_mark_counts():
    tokens = [
        ("coherence: ", None),
        ("1", [("1", 0.0)]),
        (" no, coherence: ", None),
        ("5", [("5", 0.0)]),
    ]
    assert weighted_marks(tokens, ["coherence"]) == {"coherence": 5.0}


@pytest.mark.parametrize("written", ["0", "6", "9"])
def test_a_judge_that_writes_a_mark_off_the_scale_gives_none(written):
    tokens = [("coherence: ", None), (written, [(written, log(0.5)), ("4", log(0.5))])]
    assert weighted_marks(tokens, ["coherence"]) == {"coherence": Missing("off_scale")}
