"""docs/results.md says what the committed rows say."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from experiments import ends, findings, length, numbers, orders, readers, reading, replay
from experiments.rows import EVIDENCE, make_rows, planned_settings, read_planned
from experiments.tables import markdown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.chdir(ROOT)
    return (ROOT / "docs/results.md").read_text(encoding="utf-8")


def text_of(page):
    """The page without its tables, in one line."""
    return " ".join(line for line in page.splitlines() if not line.startswith("|"))


@pytest.mark.parametrize("finding", findings.FINDINGS, ids=lambda each: each.__name__)
def test_each_table_is_computed_from_the_committed_rows(finding, page):
    assert markdown(finding()) in page


def test_the_page_is_short_and_its_decimals_are_in_tables_or_readings(page):
    assert len(page.splitlines()) <= 200
    tables = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    texts = [*readers.READINGS.values(), *readers.EARLIER.values()]
    folders = [EVIDENCE / "readings" / name for text in texts for name in text]
    readings = [reading.count([folder], "base") for folder in folders]
    known = "\n".join([tables, findings.DETAILS.read_text(encoding="utf-8"), *readings])
    text = text_of(page)
    found = re.findall(r"(?<![\w.])[-+]?\d+\.\d+(?![\w.]*\w)", text)
    assert len(found) > 10
    # A length penalty, not a measured number.
    assert [number for number in found if number not in known] == ["-4.0"] * text.count("-4.0")


def test_the_numbers_of_readme_are_in_the_tables(page):
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What we found")[2]
    numbers = re.findall(r"\d+\.\d+", text.partition("\n\n[")[0])
    tables = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    assert len(numbers) > 6
    assert [number for number in numbers if number not in tables] == []


def test_the_file_of_further_tables_is_computed_from_the_committed_rows(page):
    assert findings.DETAILS.read_text(encoding="utf-8") == findings.details()


def test_the_text_counts_the_runs(page):
    runs = replay.planned()
    won = replay.gains(runs, replay.by_default)
    kept = replay.counts(runs, replay.by_default)
    text = " ".join(page.split())
    possible = ends.promised(replay.gains(runs, ends.ENDS["best"]))
    assert replay.losses(runs, replay.by_default) == (0, 0)
    assert f"None of {len(runs)} finished runs ended below base" in text
    assert f"{ends.promised(won)} of the {possible} runs in which some system" in text
    assert f"information {kept['information']} times, brio {kept['brio']}" in text
    named = ("information", "brio", "likelihood", "vote")
    assert f"others {len(runs) - sum(kept[name] for name in named)}." in text


def test_the_text_counts_the_regimes(page):
    words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rows = list(orders.rivals())
    above = {
        name: words[sum(row[f"{name} - control"].startswith("**+") for row in rows)]
        for name in ("information", "vote", "likelihood", "brio")
    }
    kept = words[sum(row["kept - control"].startswith("**+") for row in ends.regimes())]
    text = " ".join(page.split())
    assert (
        f"are information in {above['information']} regimes of {words[len(rows)]}, the vote in "
        f"{above['vote']}, likelihood in {above['likelihood']}, brio in {above['brio']};"
    ) in text
    assert f"clearly beats the control** in {kept} regimes" in text
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"clearly in {kept} of {words[len(rows)]} regimes" in readme
    assert f"its data, a processor), the vote in {above['vote']}." in readme


def test_every_planned_row_has_a_place_on_the_page(page):
    assert set(planned_settings()) == set(read_planned().setting)
    assert set(read_planned().system) <= {*orders.SYSTEMS, "reference"}
    assert all(name in page for name in planned_settings())


def test_the_evidence_of_presets_is_in_the_tables(page):
    lines = [
        line
        for path in sorted((ROOT / "presets").glob("*.yaml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# Evidence: ")
    ]
    found = [number for line in lines for number in re.findall(r"\d+\.\d+", line)]
    assert found
    assert [number for number in found if number not in page] == []


def test_a_page_without_the_place_of_a_table_is_refused(page):
    assert findings.filled(page) == page
    with pytest.raises(findings.BridoError, match="regimes"):
        findings.filled(page.replace("<!-- regimes -->", ""))


def test_a_picture_has_a_mark_for_each_run(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    ends.drawn(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["choice.png"]


def run(seed, **systems):
    """Rows of a run; systems: name -> (validation marks, test marks, ROUGE-1, words)."""
    return [
        {"setting": "s", "seed": seed, "system": name, "split": split, "words": words, "r1": r1,
         "r2": 1.0, "marks": marks}
        for name, (validation, test, r1, words) in systems.items()
        for split, marks in (("validation", validation), ("test", test))
    ]  # fmt: skip


def test_a_system_as_long_as_base_is_chosen_on_validation_documents():
    good, bad = "6" * 30, "3" * 30
    half = "6" * 15 + "3" * 15
    rows = make_rows(run(
        1, base=(bad, bad, 50, 10), vote=(good, good, 50, 8), vote_2=(good, half, 50, 9.5),
        vote_4=(good, bad, 50, 11), control=(bad, bad, 50, 10),
    ))  # fmt: skip
    (own,) = replay.options(rows)
    names = [length.as_long_as_base(own, name) for name in ("base", "vote", "control")]
    assert names == ["base", "vote_2", "control"]
    cell = length._both([own], replay.kept_by(among=orders.ORDERS, length_change=None))
    assert cell.startswith("+100.0 → +50.0 [")
    assert cell.endswith(", -5.0 % words")


def test_a_replay_keeps_the_best_that_meets_the_conditions():
    good, bad = "6" * 30, "3" * 30
    half = "6" * 15 + "3" * 15
    rows = make_rows([
        *run(1, base=(bad, half, 50, 10), vote=(half, good, 50, 10),
             control=(good, half, 48.9, 10)),
        *run(2, base=(bad, half, 50, 10), vote=(good, bad, 50, 7.4)),
        # Nobody else, and nobody knows.
        *run(3, base=(bad, half, 50, 10)),
        *run(4, base=("8" * 30, "8" * 30, 50, 10), vote=("8" * 30, "8" * 30, 50, 10)),
        *run(5, base=(half, "8" * 30, 50, 10), vote=(good, "8" * 30, 50, 10)),
    ])  # fmt: skip
    runs = replay.options(rows)
    assert [(one.setting, one.seed) for one in runs] == [("s", 1), ("s", 2)]
    assert [replay.by_default(one) for one in runs] == ["vote", "base"]
    free = {"rouge_loss": None, "length_change": None}
    assert [replay.kept_by(**free)(one) for one in runs] == ["control", "vote"]
    assert [replay.kept_by(**free, without=["control"])(one) for one in runs] == ["vote", "vote"]
    assert [replay.kept_by(**free, among=["control"])(one) for one in runs] == ["control", "base"]
    assert [replay.always("control")(one) for one in runs] == ["control", None]
    assert [one.best for one in runs] == ["vote", "base"]
    # Too few documents for a choice.
    assert replay.kept_by(15)(runs[0]) == "base"
    records = {row["rule"]: row for row in replay.table(runs)}
    vote = records["always vote"]
    assert vote["runs"] == "2"
    assert vote["good - base"].startswith("+0.0 [")
    assert (vote["worst run"], vote["regret"]) == ("-50.0", "25.0")
    assert vote["lose more than 2 points (interval without 0)"] == "1 (1)"
    assert records["always the control"]["ROUGE-1 - base"] == "-1.1"
    assert replay.losses(runs, replay.always("vote")) == (1, 1)
    won = replay.gains(runs, replay.always("vote"))
    assert [values.mean() for values in won] == [0.5, -0.5]
    assert ends.promised(won) == 1
    assert [values.mean() for values in replay.gains(runs, replay.by_default, "control")] == [0.5]


def test_a_replay_lets_a_system_be_as_long_as_the_references():
    good, bad = "6" * 30, "3" * 30
    copies = run(1, base=(bad, bad, 50, 30), short=(good, good, 50, 18))
    (alone,) = replay.options(make_rows(copies))
    rows = [*copies, *run(1, reference=(bad, bad, 100, 20))]
    (beside,) = replay.options(make_rows(rows))
    assert [replay.by_default(one) for one in (alone, beside)] == ["base", "short"]


def test_a_cell_has_the_means_of_the_four_ends():
    good, bad, half = "6" * 30, "3" * 30, "6" * 15 + "3" * 15
    rows = make_rows([
        *run(1, base=(bad, half, 50, 10), vote=(half, good, 50, 10), control=(bad, bad, 50, 10)),
        *run(2, base=(half, half, 50, 12), vote=(bad, good, 50, 7.4)),
    ])  # fmt: skip
    runs = replay.options(rows)
    assert ends.ends(runs, ends.share("good"), ".0f") == "50 → 75 / 0 / 100"
    assert ends.ends(runs, lambda run, name: run.test[name].words, ".1f") == (
        "11.0 → 11.0 / 10.0 / 8.7"
    )
    assert ends.ends(runs, lambda run, name: np.nan, ".1f") == ""


def test_intervals_of_few_runs_are_as_wide_as_students():
    runs = np.array([0.1, 0.4, 0.2])
    found = numbers.interval([np.full(300, run) for run in runs])
    expected = scipy.stats.ttest_1samp(runs, 0.0).confidence_interval(0.95)
    assert found == pytest.approx((runs.mean(), *expected))
    # Runs that are alike by chance are not surer than their documents.
    alike = [np.repeat([0.0, 1.0], 20)] * 3
    assert numbers.interval(alike)[1] < 0.45
    # Groups of two runs each are as sure as one run of each.
    twice = numbers.interval([np.full(300, run) for run in runs.repeat(2)], alike=[*"aabbcc"])
    assert twice == pytest.approx(found)


def test_intervals_are_over_runs_and_documents():
    same = [np.ones(40), np.ones(40)]
    assert numbers.interval(same) == (1.0, 1.0, 1.0)
    mean, low, high = numbers.interval([np.zeros(40), np.ones(40)])
    assert (mean, low, high) == (0.5, 0.0, 1.0)
    # Runs of one base are drawn together: two of them tell no more than one.
    three = [np.zeros(40), np.ones(40), np.ones(40)]
    twice = [values for values in three for _ in range(2)]
    assert numbers.interval(twice, alike=[*"aabbcc"]) == numbers.interval(three)
    assert numbers.interval(twice)[1] > numbers.interval(three)[1]
    mean, low, high = numbers.interval([np.repeat([0.0, 1.0], 200)])
    assert mean == 0.5
    assert abs(high - low - 2 * 1.96 * 0.025) < 0.01
