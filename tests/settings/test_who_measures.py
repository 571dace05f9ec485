"""Which check chooses, and which one measures what was chosen."""

import pytest
from test_settings_refusals import BASE, FILES, measured

from brido.settings.load import check_params


@pytest.mark.parametrize(
    ("data", "metrics", "by", "expected"),
    [
        (FILES, "mentions", None, ("mentions.good", None)),
        (FILES, "mentions minicheck", None, ("mentions.good", "minicheck.good")),
        (FILES, "mentions minicheck", "minicheck.good", ("minicheck.good", "mentions.good")),
        (FILES, "mentions qafacteval", None, ("mentions.good", "qafacteval.lerc")),
        (FILES, "mentions minicheck qafacteval", None, ("mentions.good", "qafacteval.lerc")),
        (BASE, "mentions world_judge", None, ("world_judge.good", None)),
        (BASE, "mentions world_judge", "mentions.good", ("mentions.good", "world_judge.good")),
    ],
)
def test_another_check_measures_where_there_is_one(data, metrics, by, expected):
    choice = {"choice": {"by": by, "rouge_loss": None}}
    params = check_params(data | measured(*metrics.split()) | choice)
    assert (params.decides, params.measures) == expected
