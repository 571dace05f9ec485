"""What the page and the tables say of a run's order: every part that has a weight."""

from brido.report.settings_text import settings_text
from brido.settings.load import check_params


def test_what_each_system_changes_is_among_the_settings():
    params = check_params(
        {
            "checkpoints": {"base": {"source": "embedded"}},
            "training": {"margin_kind": "fixed"},
            "tuned": {
                "vote": {"scoring": {}},
                # An empty section that may be null is not null: an adapter with its defaults.
                "adapter": {"training": {"lora": {}}},
                "other": {
                    "scoring": {"alpha": float("inf")},
                    "training": {"reduction": "sum", "validation": {"every": 9}},
                },
            },
            "variants": {
                "short": {"checkpoint": "base", "length_penalty": -4},
                "guided": {"checkpoint": "base", "guidance": {}},
            },
        }
    )
    rows = settings_text(params)
    assert ("training.margin_kind", "fixed") in rows
    assert [row for row in rows if row[0].startswith(("tuned", "variants"))] == [
        ("tuned.vote", "no changes"),
        ("tuned.adapter.training.lora", "{}"),
        ("tuned.other.scoring.alpha", "inf"),
        ("tuned.other.training.reduction", "sum"),
        ("tuned.other.training.validation.every", "9"),
        ("variants.short.length_penalty", "-4"),
        ("variants.short.checkpoint", "base"),
        ("variants.guided.checkpoint", "base"),
        ("variants.guided.guidance", "{}"),
    ]
    assert len({key for key, _ in rows}) == len(rows)
