"""Tables of studies: arithmetic by hand, and the committed tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import foretold, numbers, plan, rows, study, tables

ROOT = Path(__file__).parents[2]
DIGITS = ("3331", "1101")
SYSTEMS = {
    "tuned": plan.System(control="random", label="tuned on the vote"),
    "random": plan.System({"scoring.shuffle": True}, documents=8),
    "2 documents": plan.System(documents=2),
    "4 documents": plan.System(documents=4),
    "3 candidates": plan.System(documents=4, candidates=3),
}


def row(system, decoding, digits, seed=0, split="test", **changes):
    place = dict(zip(rows.PLACE, ("a", seed, system, decoding, split), strict=True))
    values = {"words": 10.0, "r1": 60.0, "r2": 40.0, "unsupported": digits} | changes
    fluency, sound = DIGITS if digits else ("", "")
    return {**place, "fluency": fluency, "sound": sound, **values}


def two_seeds():
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


def table_of(records):
    """The cells of a setting's table by system and decoding."""
    found = tables.systems_table(rows.make_rows(records), SYSTEMS)
    return {(one["system"], one["decoded"]): one for one in found}


def test_rows_and_settings_come_back_from_their_files(tmp_path):
    frame = rows.make_rows(two_seeds())
    rows.write_rows(tmp_path / "rows.csv", frame)
    assert rows.read_rows(tmp_path / "rows.csv").equals(frame)
    assert rows.read_rows(tmp_path / "none.csv").empty
    first = frame[:1]
    expected = {"unsupported": [1, 1, 0, 0], "good": [0, 0, 1, 0], "sound": [1, 1, 0, 1]}
    for mark, values in expected.items():
        assert rows.marks(first, mark)[0].tolist() == values
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


def test_a_setting_s_table_says_what_the_rows_hold():
    found = table_of(two_seeds())
    assert found["base", "greedy"]["unsupported"].startswith("50.0 % [")
    assert found["base", "greedy"]["unsupported - base"] == ""
    tuned = found["tuned on the vote", "beams"]
    assert tuned["unsupported - base"].startswith("-25.0 [")
    # Of 0100, 3331 is whole in the first three: the first and the third are supported too.
    shares = tuple(tuned[key].split(" [")[0] for key in ("well-formed", "good", "sound"))
    assert shares == ("75.0 %", "50.0 %", "75.0 %")
    at_length = found["tuned on the vote", "beams at base's length"]
    assert at_length["seeds"] == "1"
    assert at_length["unsupported - base"].startswith("-25.0 [")
    assert at_length["unsupported - base"].endswith("out of reach for 1")
    assert found["elected by the vote, nothing tuned", ""]["unsupported - base"].startswith("-50.0")


def test_the_control_s_columns_pair_the_seeds_that_have_both():
    records = [*two_seeds(), row("random", "beams", "1100", 0, words=12.0, r1=50.0)]
    # Of the second seed only the validation documents were measured.
    records.append(row("random", "beams", "1111", 1, "validation"))
    records += [row("random", "beams at base's length", "1100", seed) for seed in (0, 1)]
    found = table_of(records)
    tuned = found["tuned on the vote", "beams"]
    assert tuned["unsupported - shuffled"].startswith("-25.0 [")
    # 0100 and 1100 of 3331: two and one of four.
    assert tuned["good - shuffled"].startswith("+25.0 [")
    assert found["tuned on the vote", "greedy"]["unsupported - shuffled"] == ""
    fitted = found["tuned on the vote", "beams at base's length"]["unsupported - shuffled"]
    assert (fitted[:7], fitted[-18:]) == ("-25.0 [", "out of reach for 1")
    assert found["random", "beams"]["words"] == "12.0"
    # On other corpora there is no grammar, so these columns are empty and not shown.
    plain = rows.make_rows([one | {"fluency": "", "sound": ""} for one in records])
    text = tables.markdown(tables.systems_table(plain, SYSTEMS))
    assert "unsupported - shuffled" in text
    assert "good" not in text


@pytest.mark.parametrize("better", [True, False])
def test_what_electing_foretells_is_compared_with_what_tuning_did(better):
    high, low = ("1" * 40, "0" * 40) if better else ("0" * 40, "1" * 40)
    own = [row("base", "greedy", high, 0, split) for split in ("validation", "test")]
    own += [row("elected", "", low, 0, "validation"), row("tuned", "greedy", low)]
    word = "helps" if better else "harms"
    run = foretold.Run.of(rows.make_rows(own), "tuned", "greedy", "unsupported")
    assert (run.said, run.seen) == (word, word)
    # Its own score elected the opposite.
    own += [row("elected by tuned", "", high, 0, "validation")]
    assert foretold.Run.of(rows.make_rows(own), "tuned", "greedy", "unsupported").said == "open"


def small_plan():
    chain = plan.Chain("a", 0, {}, SYSTEMS, {"greedy": {}, "beams": {}})
    return plan.StudyPlan("growth", Path(), SYSTEMS, (chain, replace(chain, seed=1)))


def test_a_row_a_setting_says_what_electing_does():
    (line,) = tables.settings_table(rows.make_rows(two_seeds()), small_plan())
    cells = [cell.split(" [")[0] for cell in line.values()]
    assert cells == ["a", "2", "beams", "-75.0", "50.0 %", "tuned", "25.0 %", "-25.0", "-25.0"]
    assert line["at base's length"].endswith("out of reach for 1")


def test_the_committed_tables_are_those_of_the_committed_rows(monkeypatch):
    """One cheap plan whole; of every other plan that it has its section."""
    monkeypatch.chdir(ROOT)
    for path in sorted(plan.PLANS.glob("*.yaml")):
        one = plan.read_plan(path)
        if not one.table.is_file():
            continue
        text = (one.folder / study.README).read_text(encoding="utf-8")
        assert f"\n## {one.name}\n" in text
        if one.name == "zero_shot_tuned":
            found = tables.tables(rows.read_rows(one.table), one, whole=False)
            assert "\n\n".join(found) in text


def test_the_picture_is_the_same_twice(tmp_path):
    drawn = []
    for name in ("a", "b"):
        study.draw_plane(rows.make_rows(two_seeds()), tmp_path / name)
        drawn.append((tmp_path / name / "world.png").read_bytes())
    assert drawn[0] == drawn[1]


def test_a_readme_has_the_first_setting_s_systems(tmp_path):
    other = [one | {"setting": "b"} for one in two_seeds()]
    both = rows.make_rows([*other, *two_seeds()])
    whole, first = (tables.tables(both, small_plan(), whole) for whole in (True, False))
    assert (len(whole), len(first)) == (3, 2)
    assert first[1].startswith("**a**: 2 seeds x 4 test documents")
    assert {*first} <= {*whole}
    for name, text in (("b", "old"), ("a", "| 1 |"), ("b", "new")):
        study.write_section(tmp_path / "README.md", name, text)
    written = (tmp_path / "README.md").read_text()
    assert written == f"{study.HEAD}\n\n## a\n\n| 1 |\n\n## b\n\nnew\n"
