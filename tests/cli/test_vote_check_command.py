"""`brido vote-check`: what it says of made-up candidates, and of lines it cannot use."""

from brido.cli.vote_check import check_rows

RECORD = {
    "document": "A lorry hit a wall in Ashwick on Monday, police said.",
    "candidates": [
        "The lorry hit a wall in Ashwick.",
        "One lorry hit a wall in Ashwick.",
        "The car struck some house in Colham.",
        "A bus is lost near a tree, and nobody has found it.",
    ],
    "reference": "A lorry struck a house in Colham.",
}


def test_the_numbers_by_hand():
    # Colham is not in the document; the third candidate is as long as the first two, and worse.
    found = check_rows([RECORD])
    assert found == {
        "documents": 1, "pairs": 2, "accuracy": 1.0,
        "elected_unsupported": 0.0, "candidates_unsupported": 0.25,
    }  # fmt: skip
    found = check_rows([RECORD], alpha=float("inf"))
    assert (found["accuracy"], found["elected_unsupported"]) == (0.0, 1.0)


def test_rows_may_have_different_numbers_of_candidates():
    two = {"candidates": RECORD["candidates"][1:3], "document": RECORD["document"]}
    found = check_rows([RECORD, two])
    # The two of the second row are as like each other: half right.
    assert (found["pairs"], found["accuracy"]) == (3, round(2.5 / 3, 4))
