"""What is compared with what, and what stands in headline.json."""

import pytest

from brido.report.numbers import headline, measure
from brido.report.settings import ReportSettings
from brido.tables import DECODED, evaluation_schema, write_table

SETTINGS = ReportSettings(bootstrap_samples=20)


@pytest.fixture
def run(tmp_path):
    """Tables of four documents: unsupported and length of each system."""

    def make(system, unsupported, words):
        path = tmp_path / f"{system}.parquet"
        rows = [
            {"id": f"d{place}", "mentions.unsupported": value, "detail": "{}"}
            for place, value in enumerate(unsupported)
        ]
        schema = evaluation_schema(["mentions.unsupported"])
        write_table(path, [rows], schema, {"signature": {"of": system}})
        decoded = tmp_path / f"{system}-decoded.parquet"
        texts = [
            {"id": row["id"], "summary": " ".join(["w"] * words), "score": 0.0} for row in rows
        ]
        write_table(decoded, [texts], DECODED)
        return path, decoded

    made = {
        "reference": make("reference", [0, 0, 0, 0], 10),
        "base": make("base", [1, 1, 0, 0], 100),
        "vote": make("vote", [1, 0, 0, 0], 110),
        "control": make("control", [1, 1, 1, 0], 103),
    }
    tables = {name: table for name, (table, _) in made.items()}
    return tables, {name: decoded for name, (_, decoded) in made.items()}


def unsupported(estimates):
    return estimates["mentions"]["unsupported"].mean


def test_each_system_is_compared_with_base_and_the_tuned_ones_with_the_control(run):
    numbers = measure(*run, SETTINGS, "abc", "control", ["vote", "control", "base"])
    means = {name: unsupported(item) for name, item in numbers.systems.items()}
    assert means == {"reference": 0, "base": 0.5, "vote": 0.25, "control": 0.75}
    gaps = {name: unsupported(item) for name, item in numbers.differences.items()}
    assert gaps == {"vote - base": -0.25, "control - base": 0.25, "vote - control": -0.5}
    assert {name: item.mean for name, item in numbers.lengths.items()} == {
        "reference": 10, "base": 100, "vote": 110, "control": 103,
    }  # fmt: skip
    # 3 % longer is no warning yet, and the reference gets none.
    (warning,) = numbers.warnings
    assert "vote are 10.0% longer" in warning
    assert (numbers.base, numbers.control) == ("abc", "control")


def test_without_base_or_a_control_nothing_is_compared_with_them(run):
    tables, decoded = run
    alone = measure({"base": tables["base"]}, decoded, SETTINGS, "", "control", ["vote"])
    assert alone.differences == {}
    untrained = measure(tables, decoded, SETTINGS, "", None, ["vote"])
    assert list(untrained.differences) == ["vote - base", "control - base"]


def test_a_system_of_which_nothing_was_measured_has_no_row(run):
    tables, decoded = run
    rows = [{"id": f"d{place}", "rouge.r1": None, "detail": "{}"} for place in range(4)]
    schema = evaluation_schema(["rouge.r1"])
    write_table(tables["reference"], [rows], schema, {"signature": {}})
    numbers = measure(tables, decoded, SETTINGS, "", None, [])
    assert list(numbers.systems) == ["base", "vote", "control"]


def test_headline_json_has_base_what_is_kept_and_the_control_and_numbers_alone(run):
    numbers = measure(*run, SETTINGS, "abc", "control", ["vote", "control"])
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


def test_no_row_of_headline_json_is_the_control_twice(run):
    numbers = measure(*run, SETTINGS, "abc", "control", ["vote", "control"])
    found = headline(numbers, {"by": "mentions.unsupported", "chosen": "control"})
    assert list(found) == ["base", "chosen"]
    assert list(found["chosen"]) == ["unsupported", "words", "minus_base"]
    assert list(headline(numbers, {"by": "rouge.r1", "chosen": "base"})["chosen"]) == [
        "unsupported", "words",
    ]  # fmt: skip
