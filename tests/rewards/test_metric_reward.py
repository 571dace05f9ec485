"""What a metric measures as a reward, without a trainer."""

import pytest

from brido.rewards import MetricReward
from brido.utils.errors import BridoError

TEXTS = ["Ann won in Leeds.", "Ann won in York.", "I'm sorry, I cannot summarize this.", "Ann won"]
COLUMNS = {"document": ["Ann won in Leeds."] * 4, "reference": ["Ann won in York."] * 3 + [[]]}


def test_the_reward_is_the_metrics_number_and_lower_is_negative():
    unsupported = MetricReward("mentions.unsupported")
    assert unsupported(["p"] * 4, TEXTS, **COLUMNS) == [0.0, -1.0, None, 0.0]
    rouge = MetricReward("rouge.r1")
    assert rouge(["p"] * 4, TEXTS, **COLUMNS) == [75.0, 100.0, None, None]
    ended = MetricReward("rouge.r1", end_tokens=(2,))
    ids = [[5, 2], [5], [2], [2]]
    assert ended(["p"] * 4, TEXTS, ids, **COLUMNS) == [75.0, None, None, None]
    assert (unsupported.__name__, rouge.__name__) == ("mentions.unsupported", "rouge.r1")
    with pytest.raises(BridoError, match="column `document`"):
        rouge(["p"] * 4, TEXTS)
