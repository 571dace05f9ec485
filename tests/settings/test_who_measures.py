"""Which check chooses, and which one measures what was chosen."""

import pytest

from brido.settings.load import check_params


def who(metrics, source="files", by=None, **evaluation):
    evaluation = {name: evaluation.get(name, {}) for name in metrics} | {"metrics": metrics}
    data = {"source": source}
    if source == "files":
        data["files"] = {"train": "a.jsonl", "document_column": "d", "summary_column": "s"}
    raw = {"data": data, "evaluation": evaluation, "choice": {"by": by, "rouge_loss": None}}
    if source == "files":
        raw["checkpoints"] = {"base": {"source": "some/model"}}
    params = check_params(raw, "a test")
    return params.decides, params.measures


@pytest.mark.parametrize(
    ("metrics", "more", "expected"),
    [
        (["mentions"], {}, ("mentions.good", None)),
        (["mentions", "minicheck"], {}, ("mentions.good", "minicheck.good")),
        (["mentions", "minicheck"], {"by": "minicheck.good"}, ("minicheck.good", "mentions.good")),
        (["mentions", "qafacteval"], {}, ("mentions.good", "qafacteval.lerc")),
        (["mentions", "minicheck", "qafacteval"], {}, ("mentions.good", "qafacteval.lerc")),
        (["mentions", "world_judge"], {"source": "world"}, ("world_judge.good", None)),
        (
            ["mentions", "world_judge"], {"source": "world", "by": "mentions.good"},
            ("mentions.good", "world_judge.good"),
        ),
    ],
)  # fmt: skip
def test_another_check_measures_where_there_is_one(metrics, more, expected):
    assert who(metrics, **more) == expected
