"""The stages as studies run them: the control that trains on scores which say nothing."""

import numpy as np

from brido.tables import SCORES, read_metadata, read_rows, write_table
from experiments import pipeline


def test_shuffled_scores_are_the_same_ones_in_another_order(tmp_path):
    scores, order = [0.5, 0.25, float("nan"), 0.125, 1.0], [4, 0, 1, 3, 2]
    found = [{"id": f"{number}", "scores": scores, "order": order} for number in range(8)]
    table_of_scores = tmp_path / "scores.parquet"
    write_table(table_of_scores, [found], SCORES, {"candidates": "c"})
    pipeline.shuffle_scores(table_of_scores, 0)
    after = read_rows(table_of_scores, SCORES, "score")
    assert read_metadata(table_of_scores, "score")["candidates"] == "c"
    assert len({str(one["scores"]) for one in after}) > 4
    for one in after:
        assert np.isnan(one["scores"][2])
        assert sorted(one["scores"][:2] + one["scores"][3:]) == [0.125, 0.25, 0.5, 1.0]
        ranked = [one["scores"][place] for place in one["order"][:4]]
        assert ranked == sorted(ranked, reverse=True)
        assert one["order"][4] == 2
    before = after
    write_table(table_of_scores, [found], SCORES, {"candidates": "c"})
    pipeline.shuffle_scores(table_of_scores, 0)
    assert str(read_rows(table_of_scores, SCORES, "score")) == str(before)
