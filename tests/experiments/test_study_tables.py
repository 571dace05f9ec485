"""Tables and pictures of studies: arithmetic by hand, and the committed tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import numbers, pictures, plan, rows, study, tables
from experiments.rows import Row

ROOT = Path(__file__).parents[2]


def row(system, decoding, digits, seed=0, split="test", **changes):
    values = {"words": 10.0, "r1": 60.0, "r2": 40.0, "length_penalty": None} | changes
    values["fluency"] = "3331" if digits else ""
    return Row("a", seed, system, decoding, split, unsupported=digits, **values)


@pytest.fixture
def measured():
    """Two seeds; at base's length one of them is out of tuned's reach."""
    found = []
    for seed in (0, 1):
        for decoding in ("greedy", "beams"):
            found += [row("base", decoding, "3100", seed), row("tuned", decoding, "0100", seed)]
            found.append(row("base", decoding, "1110", seed, "validation"))
            found += [row(f"{size} documents", decoding, "0110", seed) for size in (2, 4)]
        found += [row("elected", "", "0000", seed, split) for split in ("validation", "test")]
        found.append(row("tuned", "beams at base's length", "0100" if seed else "", seed))
    return found


def test_rows_and_settings_come_back_from_their_files(measured, tmp_path):
    rows.write_rows(tmp_path / "rows.csv", measured)
    assert rows.read_rows(tmp_path / "rows.csv") == measured
    assert rows.read_rows(tmp_path / "none.csv") == []
    assert measured[0].counts.tolist() == [3, 1, 0, 0]
    assert measured[0].flags.tolist() == [1, 1, 0, 0]
    assert measured[0].good.tolist() == [0, 0, 1, 0]
    settings = {"a": {"x": 1, "y": [2]}, "b": {"x": 1, "z": float("inf")}}
    rows.write_settings(tmp_path / "rows.json", settings)
    assert rows.read_settings(tmp_path / "rows.json") == settings


def test_the_interval_covers_differences_between_seeds():
    """No spread within seeds: all of the interval comes from drawing seeds."""
    same = [np.full(50, 0.3)] * 5
    assert numbers.interval(same) == pytest.approx((0.3, 0.3, 0.3))
    spread = [np.full(50, value) for value in (0.1, 0.2, 0.3, 0.4, 0.5)]
    mean, low, high = numbers.interval(spread)
    assert mean == pytest.approx(0.3)
    # Five draws of values with standard deviation 0.141: +- 1.96 x 0.141 / sqrt(5).
    assert (low, high) == (pytest.approx(0.18, abs=0.02), pytest.approx(0.42, abs=0.02))


def test_a_setting_s_table_says_what_the_rows_hold(measured):
    found = {(r["system"], r["decoded"]): r for r in tables.systems_table(measured)}
    base = found["base", "greedy"]
    assert base["unsupported"].startswith("50.0 % [")
    # 4 mentions in 40 words a seed.
    assert base["mentions per 100 words"] == "10.00"
    tuned = found[tables.LABELS["tuned"], "beams"]
    assert tuned["minus base"].startswith("-25.0 [")
    assert tuned["well-formed"] == "75 %"
    # Of 0100, 3331 is whole in the first three: the first and the third are supported too.
    assert tuned["and supported"].startswith("50.0 % [")
    assert tuned["at base's length, minus base"].startswith("-25.0 [")
    assert tuned["at base's length, minus base"].endswith("out of reach for 1")
    assert found[tables.LABELS["elected"], ""]["minus base"].startswith("-50.0 [")
    some = [one for one in measured if not (one.system == "2 documents" and one.seed)]
    names = [record["system"] for record in tables.systems_table(some)]
    assert names.count("2 documents (1 of 2 seeds)") == 2
    assert "of 2 seeds" not in "".join(names).replace("2 documents (1 of 2 seeds)", "")


def test_what_the_vote_does_is_told_from_what_the_control_does(measured):
    assert list(tables.control_table(measured)) == []
    some = [*measured, row("random", "beams", "1100", 0, words=12.0, r1=50.0)]
    # Of the second seed only the validation documents were measured.
    some.append(row("random", "beams", "1111", 1, "validation"))
    (found,) = tables.control_table(some)
    assert (found["seeds"], found["decoded"]) == ("1", "beams")
    keys = ("by the vote", "shuffled", "vote - shuffled", "words of both", "ROUGE-1/2 of both")
    assert [found[key].split(" [")[0] for key in keys] == [
        "25.0 %", "50.0 %", "-25.0", "10.0, 12.0", "60.0/40.0, 50.0/40.0",
    ]  # fmt: skip
    # 0100 and 1100 of 3331: two and one of four.
    assert found["and supported of both"] == "50.0 %, 25.0 %"
    assert found["and supported, vote - shuffled"].startswith("+25.0 [")
    # At base's length, only where a length penalty reaches it for both.
    fitted = [row("random", "beams at base's length", "1100", seed) for seed in (0, 1)]
    assert [r["seeds"] for r in tables.control_table([*some, *fitted])] == ["1", "1"]


@pytest.mark.parametrize("better", [True, False])
def test_what_electing_foretells_is_compared_with_what_tuning_did(better):
    high, low = ("1" * 40, "0" * 40) if better else ("0" * 40, "1" * 40)
    own = [row("base", "greedy", high, 0, split) for split in ("validation", "test")]
    own += [row("elected", "", low, 0, "validation"), row("tuned", "greedy", low)]
    (found,) = tables.chains_table(own)
    word = "helps" if better else "harms"
    assert (found["foretold"], found["seen"], found["right"]) == (word, word, "yes")


def test_a_row_a_setting_says_what_electing_does():
    own = [row("base", "greedy", "1110"), row("elected", "", "1000")]
    own += [row("base", "greedy", "1100", split="validation")]
    own += [row("elected", "", "1111", split="validation")]
    line = tables.settings_table(own).splitlines()[2]
    cells = [cell.split(" [")[0].strip() for cell in line.strip("| ").split("|")]
    assert cells == ["a", "1", "greedy", "50.0 %", "+50.0", "75.0 %", "-50.0", "25.0 %"]


def test_the_committed_tables_are_those_of_the_committed_rows(monkeypatch):
    """One cheap plan whole; of every other plan that it has its section."""
    monkeypatch.chdir(ROOT)
    for path in sorted(plan.PLANS.glob("*.yaml")):
        one = plan.read_plan(path)
        if not one.table.is_file():
            continue
        text = (one.folder / study.README).read_text(encoding="utf-8")
        assert f"\n## {one.name}\n" in text
        if one.name == "zero_shot":
            assert "\n\n".join(tables.tables(rows.read_rows(one.table))) in text


def test_the_picture_is_the_same_twice(measured, tmp_path):
    chains = [replace(one, setting="a", seed=seed) for seed in (0, 1) for one in sized()]
    (first,) = pictures.draw(tmp_path / "a", "growth", measured, chains)
    (second,) = pictures.draw(tmp_path / "b", "growth", measured, chains)
    assert first.read_bytes() == second.read_bytes()
    untuned = [one for one in measured if one.system == "base"]
    assert pictures.draw(tmp_path, "none", untuned, chains) == []


def sized():
    """A chain whose systems differ in documents and in candidates, and one in what it changes."""
    systems = {
        "tuned": plan.System(),
        "2 documents": plan.System(documents=2),
        "4 documents": plan.System(documents=4),
        "3 candidates": plan.System(documents=4, candidates=3),
        "random": plan.System({"scoring.shuffle": True}, documents=8),
        "mle": plan.System({"training.gamma": 0.0}, documents=16),
    }
    params = {"documents": {"train": 32}, "generation": {"base": {"num_candidates": 6}}}
    return [plan.Chain("a", 0, params, systems, {})]


def test_a_point_of_the_picture_is_what_a_system_was_tuned_on():
    systems = ["tuned", "2 documents", "4 documents", "3 candidates", "random", "mle"]
    own = [row(system, "beams", "1100") for system in systems]
    own += [row("4 documents", "beams at base's length", "1111")]
    found = {
        kind: {one.system: size for size, one in pictures.points(kind, own, sized())}
        for kind in (pictures.DOCUMENTS, pictures.CANDIDATES)
    }
    assert found[pictures.DOCUMENTS] == {"tuned": 32, "2 documents": 2, "4 documents": 4}
    assert found[pictures.CANDIDATES] == {"4 documents": 6, "3 candidates": 3}
