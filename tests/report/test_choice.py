"""Which system a run keeps: against a slow obvious version, and on both sides of every limit."""

import math
from statistics import mean, stdev

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.report.choice import Compared, choose
from brido.report.settings import ChoiceSettings

FREE = ChoiceSettings(rouge_loss=None, length_change=None)
nan = math.nan


def system(name, quality, words=10.0, rouge=None):
    """A system; a number stands for the same one of every document."""
    size = len(quality)
    lengths = np.full(size, words) if isinstance(words, float) else np.array(words)
    if isinstance(rouge, float):
        rouge = np.full(size, rouge)
    return Compared(name, np.array(quality, float), lengths, rouge)


def slowly(systems, how, lower, references):
    """The choice in plain Python: (chosen, best, reason, names left out by key)."""
    base, *_ = systems

    def measured(values):
        return [value for value in values if not math.isnan(value)]

    out = {}
    for one in systems:
        keys = []
        if how.rouge_loss is not None and one.rouge is not None and base.rouge is not None:
            loss = mean(measured(base.rouge)) - mean(measured(one.rouge))
            keys += ["rouge_loss"] * bool(loss > how.rouge_loss + 1e-9)
        if how.length_change is not None and mean(base.words):
            change = abs(mean(one.words) / mean(base.words) - 1)
            if references is not None:
                change = min(change, abs(mean(one.words) / references - 1))
            keys += ["length_change"] * bool(change > how.length_change + 1e-9)
        out[one.name] = keys
    best, value = base, 0.0
    for one in systems[1:]:
        gains = measured(one.quality - base.quality)
        own = (mean(gains) if gains else 0.0) * (-1 if lower else 1)
        if not out[one.name] and own > value:
            best, value = one, own
    pairs = zip(best.quality, base.quality, strict=True)
    gaps = measured((b - a if lower else a - b) for a, b in pairs)
    if len(gaps) < 20:
        return "base", best.name, "few documents", out
    if best is base:
        return "base", "base", "base is best", out
    error = stdev(gaps) / math.sqrt(len(gaps))
    if mean(gaps) > how.standard_errors * error + 1e-9:
        return best.name, best.name, "best", out
    return "base", best.name, "not clearly better", out


@st.composite
def runs(draw):
    """Systems on coarse grids, so that ties and limits are met; some documents not measured."""
    size = draw(st.integers(17, 26))
    grid = st.sampled_from([0.0, 0.0, 0.5, 1.0, nan])
    systems = []
    for place in range(draw(st.integers(1, 4))):
        quality = [0.5, *draw(st.lists(grid, min_size=size - 1, max_size=size - 1))]
        words = float(draw(st.sampled_from([6, 7.5, 8, 10, 12, 12.5, 13])))
        rouge = draw(st.sampled_from([29.0, 29.5, 30.0, 31.0]))
        systems.append(system(f"s{place}" if place else "base", quality, words, rouge))
    if draw(st.booleans()):
        systems = [Compared(one.name, one.quality, one.words) for one in systems]
    how = ChoiceSettings(
        rouge_loss=draw(st.sampled_from([None, 0.0, 1.0])),
        length_change=draw(st.sampled_from([None, 0.0, 0.25])),
        standard_errors=draw(st.sampled_from([0.0, 1.0, 2.0])),
    )
    return systems, how, draw(st.booleans()), draw(st.sampled_from([None, 7.5, 10.0, 16.0]))


@given(runs())
@settings(max_examples=300)
def test_it_is_the_obvious_choice(run):
    systems, how, lower, references = run
    choice = choose(systems, how, lower, references)
    out = {name: row["left_out"] for name, row in choice.systems.items()}
    assert (choice.chosen, choice.best, choice.reason, out) == slowly(*run)
    (best,) = (system.quality for system in systems if system.name == choice.best)
    assert choice.documents == sum(not math.isnan(gap) for gap in best - systems[0].quality)


def coins(good):
    """`good` documents of 100 are good."""
    return [1.0] * good + [0.0] * (100 - good)


def test_the_best_is_chosen_and_the_first_of_equals():
    a, b, c = (system(name, coins(good)) for name, good in (("a", 60), ("b", 80), ("c", 80)))
    for others, best in (((a, b, c), "b"), ((c, a, b), "c")):
        choice = choose([system("base", coins(50)), *others], FREE)
        assert (choice.chosen, choice.reason) == (best, "best")


def test_the_row_of_a_system_by_hand():
    base = system("base", [0.0] * 20 + [1.0] * 5, 10.0, 30.0)
    new = system("new", [1.0] * 10 + [0.0] * 10 + [1.0] * 4 + [nan], 11.0, 29.5)
    # The 24 documents that both have: ten are better by 1.
    deviation = math.sqrt((10 * (14 / 24) ** 2 + 14 * (10 / 24) ** 2) / 23)
    assert choose([base, new], ChoiceSettings()).plain() == {
        "chosen": "new",
        "best": "new",
        "reason": "best",
        "documents": 24,
        "systems": {
            "base": {
                "quality": 0.2, "rouge": 30.0, "words": 10.0, "difference": None,
                "standard_error": None, "left_out": [],
            },
            "new": {
                "quality": 0.583333, "rouge": 29.5, "words": 11.0, "difference": 0.416667,
                "standard_error": round(deviation / math.sqrt(24), 6), "left_out": [],
            },
        },
    }  # fmt: skip


def test_a_limit_that_rounding_misses_by_a_hair_is_met():
    base = system("base", coins(50), [0.1] * 100, 0.3)
    how = ChoiceSettings(rouge_loss=0.1, length_change=0.2)
    choice = choose([base, system("new", coins(90), [0.12] * 100, 0.2)], how)
    assert choice.systems["new"]["left_out"] == []
