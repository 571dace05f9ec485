"""The rouge metric is rouge_score with sentences split for rlsum, times 100."""

import pytest
from rouge_score import rouge_scorer

from brido.evaluation import Inputs
from brido.evaluation.rouge import METRIC, RougeSettings

REFERENCE = "Dogs were running home. Mr. Smith saw two cats on the mat."
SUMMARY = "Two cats saw Mr. Smith. A dog ran home."


def measure(summary, references, use_stemmer=True):
    inputs = Inputs(["1"], [""], [summary], [references])
    return METRIC.measure(inputs, RougeSettings(use_stemmer=use_stemmer))


@pytest.mark.parametrize("use_stemmer", [True, False])
def test_equals_rouge_score(use_stemmer):
    names = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    scorer = rouge_scorer.RougeScorer(names, use_stemmer=use_stemmer)
    expected = scorer.score(
        "Dogs were running home.\nMr. Smith saw two cats on the mat.",
        "Two cats saw Mr. Smith.\nA dog ran home.",
    )
    (row,) = measure(SUMMARY, [REFERENCE], use_stemmer).rows
    assert list(row.values()) == [100 * expected[name].fmeasure for name in names]
    assert row["rl"] != row["rlsum"]


def test_the_best_reference_counts_and_the_signature_says_how():
    (row,) = measure(SUMMARY, [REFERENCE, SUMMARY]).rows
    assert set(row.values()) == {100}
    (row,) = measure("", [REFERENCE]).rows
    assert set(row.values()) == {0}
    signature = measure(SUMMARY, [REFERENCE]).signature
    assert (signature["implementation"], signature["version"]) == ("rouge_score", "0.1.2")
    assert signature["sentence_splitter"] == "abbreviations"
