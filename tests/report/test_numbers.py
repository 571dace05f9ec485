"""What is compared with what, and what stands in headline.json."""

import pytest

from brido.report.numbers import headline, measure
from brido.report.settings import ReportSettings
from brido.tables import evaluation_schema, write_table

SETTINGS = ReportSettings(bootstrap_samples=20)


SYSTEMS = {
    "reference": ([0, 0, 0, 0], 10),
    "base": ([1, 1, 0, 0], 100),
    "vote": ([1, 0, 0, 0], 110),
    "control": ([1, 1, 1, 0], 103),
}


@pytest.fixture
def tables(tmp_path):
    """Tables of four documents: unsupported and length of each system."""
    for system, (unsupported, words) in SYSTEMS.items():
        rows = [
            {"id": f"d{place}", "detail": "{}", "mentions.unsupported": value,
             "extractiveness.length": words}
            for place, value in enumerate(unsupported)
        ]  # fmt: skip
        schema = evaluation_schema(["mentions.unsupported", "extractiveness.length"])
        write_table(tmp_path / f"{system}.parquet", [rows], schema, {"signature": {"of": system}})
    return {name: tmp_path / f"{name}.parquet" for name in SYSTEMS}


def unsupported(estimates):
    return estimates["mentions"]["unsupported"].mean


def test_each_system_is_compared_with_base_and_the_tuned_ones_with_the_control(tables):
    numbers = measure(tables, SETTINGS, "abc", "control", ["vote", "control", "base"])
    means = {name: unsupported(item) for name, item in numbers.systems.items()}
    assert means == {"reference": 0, "base": 0.5, "vote": 0.25, "control": 0.75}
    gaps = {name: unsupported(item) for name, item in numbers.differences.items()}
    assert gaps == {"vote - base": -0.25, "control - base": 0.25, "vote - control": -0.5}
    # 3 % longer is no warning yet, and the reference gets none.
    (warning,) = numbers.warnings
    assert "vote are 10.0% longer" in warning
    voted = measure(tables, SETTINGS, "abc", None, [], "minicheck")
    assert "minicheck also voted" in voted.warnings[-1]
    assert (numbers.base, numbers.control) == ("abc", "control")


def test_headline_json_has_base_what_is_kept_and_the_control_and_numbers_alone(tables):
    numbers = measure(tables, SETTINGS, "abc", "control", ["vote", "control"])
    found = headline(numbers, {"by": "mentions.unsupported", "chosen": "vote"})
    gaps = {name: found["chosen"].pop(f"minus_{name}") for name in ("base", "control")}
    assert found == {
        "base": {"unsupported": 0.5, "words": 100},
        "chosen": {"unsupported": 0.25, "words": 110},
        "control": {"unsupported": 0.75, "words": 103},
    }
    assert {name: own["unsupported"]["mean"] for name, own in gaps.items()} == {
        "base": -0.25, "control": -0.5,
    }  # fmt: skip
    for own in gaps.values():
        assert own["unsupported"]["low"] <= own["unsupported"]["mean"] <= own["unsupported"]["high"]
