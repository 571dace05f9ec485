"""Orders of other systems' summaries beside people's marks."""

import json

import pytest

from brido.utils.errors import BridoError
from experiments import people

SUMMARIES = ["a train hit a bus", "a train hit a bus today", "a cow ate grass near a lake"]


def lines(marks, field="faithful_word", reference="a cow ate grass", document="d"):
    return [
        {"doc_id": document, "summary": text, "reference": reference, field: mark}
        for text, mark in zip(SUMMARIES, marks, strict=True)
    ]


@pytest.fixture
def counted(tmp_path):
    def count(records):
        path = tmp_path / "marked.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in records), encoding="utf-8")
        return list(people.measured(path))

    return count


def test_pairs_are_counted_in_the_order_of_peoples_marks(counted):
    # The first two agree, the third is the reference's: the vote puts it last, the reference first.
    (row,) = counted(lines([1.0, 1.0, 0.2]))
    assert (row["document"], row["pairs"]) == ("d", 2)
    assert (row["vote"], row["reference"], row["shortest"]) == (2, 0, 2)
    (row,) = counted(lines([0.1, 0.1, 0.2]))
    assert (row["vote"], row["reference"], row["shortest"]) == (0, 2, 0)


def test_equal_scores_are_half_a_pair_and_equal_marks_none(counted):
    (row,) = counted(lines([1.0, 0.5, 0.5], reference="nothing of that"))
    assert (row["pairs"], row["reference"]) == (2, 1.0)


def test_references_are_no_candidates_and_documents_stay_apart(counted):
    gold = lines([0.0, 0.0, 0.0])[0] | {"is_reference": True}
    rows = counted([gold, *lines([1.0, 0.5, 0.2]), *lines([1.0, 0.5, 0.2], document="other")])
    assert [(row["document"], row["pairs"]) for row in rows] == [("d", 3), ("other", 3)]


def test_a_file_of_other_marks_is_refused(counted):
    with pytest.raises(BridoError, match="expert_consistency, faithful_word"):
        counted(lines([1, 2, 3], field="stars"))
