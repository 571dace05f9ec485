"""The verdict of a run, by hand: its table, its lines, and what each turns on."""
# ruff: noqa: E501 (the printed table)

import pytest

from brido.report.metrics import Estimate
from brido.report.verdict import verdict, verdict_text
from brido.report.verdict_table import Shown, told_columns, verdict_table

GOOD, UNSUPPORTED, R1 = ("mentions", "good"), ("mentions", "unsupported"), ("rouge", "r1")
READ_GOOD = ("minicheck", "good")


def number(mean, low=None, high=None, documents=300):
    return Estimate(mean, mean if low is None else low, mean if high is None else high, documents)


def numbers(**given):
    """Estimates of metric mentions (r1: of rouge): numbers, or (mean, low, high, documents)."""
    made = {}
    for name, value in given.items():
        value = value if isinstance(value, tuple) else (value,)
        metric = {"r1": "rouge", "length": "extractiveness"}.get(name, "mentions")
        made.setdefault(metric, {})[name] = number(*value)
    return made


SYSTEMS = {
    "base": numbers(good=(0.7, 0.65, 0.75), unsupported=0.3, dates=0.2, r1=50.0, length=20.0),
    "brio": numbers(good=(0.8, 0.76, 0.84), unsupported=0.2, dates=0.1, r1=51.0, length=21.0),
    "control": numbers(good=(0.75, 0.7, 0.8), unsupported=0.25, r1=(48.5, 48, 49, 90)),
}
GAPS = {
    "brio - base": numbers(good=(0.1, 0.06, 0.14)),
    "brio - control": numbers(good=(0.05, 0.01, 0.09)),
    "control - base": numbers(good=(0.05, -0.01, 0.1)),
}
ROWS = {
    "base": {"quality": 0.69, "rouge": 50.0, "difference": None, "standard_error": None},
    "brio": {"quality": 0.81, "rouge": 51.0, "difference": 0.12, "standard_error": 0.02},
    "control": {"quality": 0.74, "rouge": 48.5, "difference": 0.05, "standard_error": 0.02},
}
APPROVED = """\
300 test documents                  base         brio (kept)             checked   control (shuffled)
─────────────────────────────────────────────────────────────────────────────────────────────────────
good %, by mentions    70.0 [65.0, 75.0]   80.0 [76.0, 84.0]              picked    75.0 [70.0, 80.0]
good %, by minicheck   60.0 [55.0, 65.0]   66.0 [61.0, 71.0]   71.0 [66.0, 76.0]                    –
unsupported %                       30.0                20.0              picked                 25.0
- dates %                           20.0                10.0                   –                    –
- cut %                                –                   –              picked                    –
ROUGE-1                            50.00               51.00                   –           48.50 (90)
words                               20.0                21.0                   –                    –

Keep `brio`: it is best on 120 validation documents (good 81.0 %, base 69.0 %, difference +12.0 with
  standard error 2.0).
Good enough? good 80.0 % [76.0, 84.0] on 300 test documents, +10.0 [+6.0, +14.0] against base. 20 of
  100 summaries are not good.
minicheck, which did not choose, measures good 66.0 % [61.0, 71.0], +6.0 [+1.0, +11.0] against base:
  it agrees.
`brio` against `control`: good +5.0 [+1.0, +9.0], better.
`brio` against `checked`, which trains nothing: good -5.0 [-9.0, -1.0], worse."""


def choice(chosen="brio", best=None, reason="best", documents=120, **changes):
    systems = {
        name: row | {"left_out": [], "words": 20.0} | changes.get(name, {})
        for name, row in ROWS.items()
    }
    return {
        "chosen": chosen,
        "best": best or chosen,
        "reason": reason,
        "documents": documents,
        "systems": systems,
    }


def told(made, gaps=GAPS, by=GOOD, control="control", systems=SYSTEMS, **more):
    return verdict(made, by, systems, gaps, control, **more)


def test_the_whole_text():
    marks = {"base": (0.6, 0.55, 0.65), "brio": (0.66, 0.61, 0.71), "checked": (0.71, 0.66, 0.76)}
    systems = SYSTEMS | {"checked": numbers(good=(1.0, 1.0, 1.0), unsupported=0.0, cut=0.01)}
    systems |= {name: systems[name] | {"minicheck": {"good": number(*three)}}
                for name, three in marks.items()}  # fmt: skip
    gain = {"minicheck": {"good": number(0.06, 0.01, 0.11)}}
    gaps = GAPS | {"brio - base": GAPS["brio - base"] | gain}
    gaps |= {"brio - checked": {"minicheck": {"good": number(-0.05, -0.09, -0.01)}}}
    notes = {"brio": "kept", "control": "shuffled"}
    shown = {
        name: Shown(systems[name], notes.get(name, ""), "mentions" if name == "checked" else None)
        for name in ("base", "brio", "checked", "control")
    }
    lines = told(choice(), gaps, systems=systems, rivals=["checked"], measures=READ_GOOD)
    assert verdict_text(verdict_table(shown, GOOD, READ_GOOD), lines) == APPROVED


def test_what_measures_may_say_the_opposite_or_nothing():
    def line(gap):
        systems = SYSTEMS | {"brio": SYSTEMS["brio"] | {"minicheck": {"good": number(0.6)}}}
        gaps = GAPS | {"brio - base": GAPS["brio - base"] | {"minicheck": {"good": gap}}}
        return told(choice(), gaps, systems=systems, measures=READ_GOOD)[2]

    assert line(number(-0.1, -0.2, -0.01)).endswith("it says the opposite.")
    assert line(number(-0.1, -0.2, 0.01)).endswith("it sees no clear difference.")
    assert "measures nothing of `brio`" in told(choice(), measures=READ_GOOD)[2]


def test_what_training_made_stands_beside_a_kept_system_that_trains_nothing():
    gaps = GAPS | {"base - brio": numbers(good=(-0.05, -0.09, -0.01))}
    lines = told(choice("base"), gaps, trained="brio")
    assert "`brio` against `control`: good +5.0 [+1.0, +9.0], better." in lines
    best = "`base` against `brio`, the best that training made: good -5.0 [-9.0, -1.0], worse."
    assert best in lines
    assert "the best that training made" not in " ".join(told(choice(), trained="brio"))


def test_a_blind_check_is_not_believed_and_a_picked_system_not_chosen_by_what_picked_it():
    assert "brido read" not in told(choice())[1]
    assert "brido read" in told(choice(), blind=True)[1]
    assert "of 100 summaries" not in told(choice(), blind=True)[1]
    out = {"left_out": ["by"]}
    assert "`control` cannot be chosen by mentions" in told(choice(control=out))[0]


def test_the_column_that_decides_comes_first_and_none_stands_twice():
    assert told_columns(SYSTEMS, R1)[0] == R1
    assert told_columns(SYSTEMS, R1).count(R1) == 1
    assert GOOD in told_columns(SYSTEMS, R1)
    judged = {"base": SYSTEMS["base"] | {"world_judge": {"good": number(0.5)}}}
    assert GOOD not in told_columns(judged, ("world_judge", "good"))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (choice("base"), "Keep `base`: no other system is better on 120 validation documents"),
        (choice("base", "brio", "not clearly better"), "Keep `base`: `brio` is not clearly better"),
        (choice("base", "brio", "few documents", 7), "Keep `base`: 7 validation documents are too"),
    ],
)
def test_why_base_stays(made, said):
    keep, _, control, *_ = told(made)
    assert keep.startswith(said)
    assert control == "`control` against `base`: good +5.0 [-1.0, +10.0], no clear difference."


def test_equals_are_told_and_those_that_are_left_out_are_not_among_them():
    assert "As good there" not in told(choice())[0]
    tie = {"quality": 0.81, "difference": 0.12}
    assert "As good there: `control`; the first of equals counts." in told(choice(control=tie))[0]
    apart = {"quality": 0.8, "difference": 0.119998}
    assert "As good there" not in told(choice(control=apart))[0]
    assert "As good there" not in told(choice(control=tie | {"left_out": ["rouge_loss"]}))[0]
    # Where base is best nobody gains; a system without a document in common is no equal of it.
    even = {"control": {"difference": 0.0}, "brio": {"difference": None}}
    assert "As good there: `control`;" in told(choice("base", reason="base is best", **even))[0]
    few = choice("base", "brio", "few documents", 7, control=tie)
    assert "As good there" not in told(few)[0]


def test_who_is_left_out_is_named_with_the_key_and_the_lengths():
    out = {"left_out": ["rouge_loss", "length_change"], "words": 12.34}
    assert (
        "Left out by choice.rouge_loss and choice.length_change: `control` (good 74.0 %, 12.3 "
        "words against base's 20.0)." in told(choice(control=out))[0]
    )


def test_a_gain_that_may_be_chance_is_called_so():
    for low, clear in ((0.001, True), (0.0004, False), (0.0, False), (-0.01, False)):
        gaps = GAPS | {"brio - base": numbers(good=(0.1, low, 0.2))}
        assert ("not clearly better than base" in told(choice(), gaps)[1]) != clear
    # Less is better.
    gaps = {"brio - base": numbers(unsupported=(-0.1, -0.2, -0.01))}
    assert "not clearly better" not in told(choice(), gaps, UNSUPPORTED)[1]


def test_numbers_of_other_or_few_documents_are_told():
    gaps = GAPS | {"brio - base": numbers(good=(0.1, 0.06, 0.14, 20))}
    assert "against base (on 20)." in told(choice(), gaps)[1]
    assert "can be trusted" not in told(choice(), gaps)[1]
    gaps = GAPS | {"brio - base": numbers(good=(0.1, 0.06, 0.14, 19))}
    assert "against base (on 19)." in told(choice(), gaps)[1]
    assert "No number of fewer than 20 documents can be trusted." in told(choice(), gaps)[1]
    few = {"base": numbers(good=(0.7, 0.6, 0.8, 19))}
    assert "can be trusted" in told(choice("base"), {}, systems=few)[1]


@pytest.mark.parametrize(("mean", "warns"), [(0.199, True), (0.2, False)])
def test_the_least_bad_system_is_not_called_good(mean, warns):
    systems = {"base": numbers(good=mean)}
    assert ("More references to learn" in told(choice("base"), {}, systems=systems)[1]) == warns
    assert "of 100 summaries" not in told(choice("base"), {}, R1, systems=SYSTEMS)[1]


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        ((0.05, 0.01, 0.09), "better"),
        ((-0.05, -0.09, -0.01), "worse"),
        ((0.05, -0.01, 0.09), "no clear difference"),
    ],
)
def test_what_the_control_says(gap, said):
    gaps = GAPS | {"brio - control": numbers(good=gap)}
    assert told(choice(), gaps)[2].endswith(f"], {said}.")


def test_without_a_control_or_with_it_kept():
    assert "+tuned.control.scoring.shuffle=true" in told(choice(), control=None)[2]
    assert "no order did better" in told(choice("control"))[2]
    assert "was not measured" in told(choice(), {"brio - base": GAPS["brio - base"]})[2]


def test_what_was_not_measured_on_test_documents_is_said():
    systems = {"base": numbers(r1=50.0), "brio": numbers(r1=50.0)}
    assert "was not measured on test documents" in told(choice(), {}, systems=systems)[1]


@pytest.mark.parametrize(("checked", "warns"), [(0.3, True), (0.499, True), (0.5, False)])
def test_few_checked_summaries_are_a_warning_where_mentions_decides(checked, warns):
    seen = numbers(good=0.7, checked=checked, details=0.4)
    systems = SYSTEMS | {"brio": seen}
    lines = told(choice(), systems=systems)
    assert ("minicheck" in lines[-1]) == warns
    if warns:
        assert f"{100 * checked:.0f} % of the summaries of brio (0.4 " in lines[-1]
    assert "minicheck" not in " ".join(told(choice(), by=R1, systems=systems))
    assert "minicheck" not in " ".join(told(choice("base"), systems=systems))
