"""The verdict of a run: which sentence, on intervals that straddle 0, touch it or lie beside it."""

import pytest

from brido.report.metrics import Estimate
from brido.report.verdict import told_columns, verdict

GOOD, R1 = ("mentions", "good"), ("rouge", "r1")


def number(mean, low=None, high=None, documents=300):
    return Estimate(mean, mean if low is None else low, mean if high is None else high, documents)


def numbers(good=None, unsupported=None, r1=None, length=None):
    """Estimates of the columns that are given, as numbers or as (mean, low, high)."""
    given = {GOOD: good, ("mentions", "unsupported"): unsupported, R1: r1}
    given[("extractiveness", "length")] = length
    made = {}
    for (metric, name), value in given.items():
        if value is not None:
            value = value if isinstance(value, tuple) else (value,)
            made.setdefault(metric, {})[name] = number(*value)
    return made


SYSTEMS = {
    "base": numbers(0.7, 0.3, 50.0, 20.0),
    "brioInf": numbers(0.8, 0.2, 51.0, 21.0),
    "control": numbers(0.75, 0.25, 48.5, 19.0),
}
ROWS = {
    "base": {"quality": 0.69, "difference": None, "standard_error": None, "words": 30.0},
    "brioInf": {"quality": 0.81, "difference": 0.12, "standard_error": 0.02, "words": 29.0},
    "control": {"quality": 0.74, "difference": 0.05, "standard_error": 0.02, "words": 12.34},
}


def choice(chosen="brioInf", best=None, reason="best", documents=120, **left_out):
    systems = {name: row | {"left_out": left_out.get(name, [])} for name, row in ROWS.items()}
    return {
        "chosen": chosen,
        "best": best or chosen,
        "reason": reason,
        "documents": documents,
        "systems": systems,
    }


def told(made, gaps=None, by=GOOD, control="control", ordered=True, systems=SYSTEMS, **more):
    return verdict(made, by, systems, gaps or {}, control, ordered, **more)


def test_the_chosen_system_with_its_numbers_on_test_documents():
    gaps = {
        "brioInf - base": numbers((0.1, 0.06, 0.14), (-0.1, -0.2, -0.02), (1.0, -0.2, 2.2), (1.0,)),
        "brioInf - control": numbers((0.05, 0.01, 0.09)),
    }
    keep, gain, order = told(choice(), gaps)
    assert keep == (
        "Keep `brioInf`: no other system is better on 120 validation documents (good summaries "
        "81.0 %, base 69.0 %)."
    )
    assert gain == (
        "On 300 test documents, base -> brioInf (difference with its 95 % interval): "
        "good summaries 70.0 % -> 80.0 % "
        "(+10.0 [+6.0, +14.0]); unsupported 30.0 % -> 20.0 % (-10.0 [-20.0, -2.0]); "
        "ROUGE-1 50.00 -> 51.00 (+1.00 [-0.2, +2.2]); words 20.0 -> 21.0 (+1.0 [+1.0, +1.0])."
    )
    assert order == (
        "The control (`control`: the same scores, shuffled): good summaries 75.0 %; difference of "
        "brioInf to it: +5.0 [+1.0, +9.0]. The order of the candidates matters here."
    )


@pytest.mark.parametrize(
    ("quality", "said"),
    [
        (0.2, ""),
        (0.199, "Only 19.9 % of the summaries of base are good: "),
        (0.0, "Only 0.0 % of "),
    ],
)
def test_the_least_bad_system_is_not_called_good(quality, said):
    made = choice("base", reason="base")
    made["systems"]["base"]["quality"] = quality
    warnings = [line for line in told(made) if line.startswith("Only ")]
    assert [line.startswith(said) for line in warnings] == [True] * bool(said)
    made["systems"]["base"]["quality"] = 0.1
    assert not any(line.startswith("Only ") for line in told(made, by=R1))


def test_what_was_not_measured_is_not_told():
    systems = {"base": numbers(0.7), "brioInf": numbers(0.8)}
    gaps = {"brioInf - base": numbers((0.1, 0.06, 0.14))}
    _, gain, _ = told(choice(), gaps, control=None, systems=systems)
    assert gain == (
        "On 300 test documents, base -> brioInf (difference with its 95 % interval): "
        "good summaries 70.0 % -> 80.0 % "
        "(+10.0 [+6.0, +14.0])."
    )


def test_a_column_that_few_documents_have_does_not_say_how_many_there_are():
    systems = {
        "base": numbers(0.7, r1=50.0),
        "brioInf": numbers((0.8, 0.7, 0.9, 300), r1=(51.0, 50.0, 52.0, 120)),
    }
    _, gain, _ = told(choice(), control=None, systems=systems)
    assert gain.startswith("On 300 test documents")


def test_a_difference_of_fewer_documents_than_its_means_says_so():
    few = [numbers((mean, low, high, 90)) for mean, low, high in ((0.8, 0.7, 0.9), (-0.1,) * 3)]
    systems = {"base": numbers(0.7), "brioInf": few[0]}
    _, gain, _ = told(choice(), {"brioInf - base": few[1]}, control=None, systems=systems)
    assert "70.0 % -> 80.0 % (-10.0 [-10.0, -10.0], of 90 documents that have both)" in gain


def test_what_decided_is_told_where_the_means_are_of_other_documents():
    made = choice()
    made["systems"]["brioInf"] = ROWS["brioInf"] | {"quality": 0.6, "left_out": []}
    keep = told(made)[0]
    assert keep.endswith(
        "(good summaries 60.0 %, base 69.0 %, difference on documents that both have +12.0)."
    )
    made["systems"]["brioInf"] |= {"quality": 0.666667, "difference": 0.333333}
    made["systems"]["base"] |= {"quality": 0.333333}
    assert told(made)[0].endswith("(good summaries 66.7 %, base 33.3 %).")


def test_a_difference_of_few_documents_cannot_be_trusted():
    few = [numbers((mean, low, high, 3)) for mean, low, high in ((0.8, 0.7, 0.9), (0.1,) * 3)]
    systems = {"base": numbers(0.7, r1=50.0), "brioInf": few[0]}
    *_, last = told(choice(), {"brioInf - base": few[1]}, control=None, systems=systems)
    assert last.startswith("Only 3 test documents have the numbers that decide of both systems")


@pytest.mark.parametrize(
    ("by", "gap", "clear"),
    [
        (GOOD, (0.05, 0.01, 0.09), True),
        (GOOD, (0.05, 0.0006, 0.09), True),
        (GOOD, (0.05, 0.0004, 0.09), False),
        (GOOD, (0.01, -0.03, 0.05), False),
        (GOOD, (-0.05, -0.09, -0.01), False),
        (("mentions", "unsupported"), (-0.05, -0.09, -0.01), True),
        (("mentions", "unsupported"), (0.05, 0.01, 0.09), False),
    ],
)
def test_a_gain_that_test_documents_do_not_show_may_be_chance(by, gap, clear):
    gaps = {"brioInf - base": numbers(**{by[1]: gap})}
    _, gain, _ = told(choice(), gaps, by)
    chance = "brioInf is not clearly better than base: what is best on validation documents may be"
    assert (chance in gain) != clear


@pytest.mark.parametrize(("documents", "warns"), [(1, True), (19, True), (20, False)])
def test_few_test_documents_are_a_warning(documents, warns):
    systems = {name: numbers(good=(0.7, 0.7, 0.7, documents)) for name in SYSTEMS}
    gaps = {"brioInf - base": numbers(good=(0.1, 0.1, 0.1, documents))}
    *_, last = told(choice(), gaps, systems=systems)
    assert last.startswith(f"Only {documents} test documents") == warns
    assert ("20" in last) == warns


def test_what_decided_is_told_first_and_each_kind_once():
    systems = {"base": numbers(0.7, 0.3, 50.0, 20.0)}
    systems["base"]["world_judge"] = {"good": number(0.6), "average": number(4.0)}
    columns = told_columns(systems, ("world_judge", "average"))
    assert columns[0] == ("world_judge", "average")
    assert [name for _, name in columns[1:]] == ["good", "unsupported", "r1", "length"]
    assert told_columns(systems, R1) == [
        R1, ("mentions", "good"), ("mentions", "unsupported"), ("extractiveness", "length"),
    ]  # fmt: skip
    assert told_columns({"base": {}}, GOOD) == []
    # Of two columns of one name the one that decided.
    columns = told_columns(systems, ("world_judge", "good"))
    assert [column for column in columns if column[1] == "good"] == [("world_judge", "good")]


def test_base_is_kept_because_it_is_best():
    gaps = {"control - base": numbers((0.05, 0.01, 0.09))}
    keep, order = told(choice("base", reason="base is best"), gaps)
    assert keep == (
        "Keep `base`: no other system is better on 120 validation documents (good summaries "
        "69.0 %)."
    )
    assert order == (
        "The control (`control`: the same scores, shuffled): good summaries 75.0 %; difference to "
        "base: +5.0 [+1.0, +9.0]."
    )


def test_base_is_kept_because_the_best_is_not_clearly_better():
    keep, _ = told(choice("base", "control", "not clearly better"))
    assert keep == (
        "Keep `base`: `control` is not clearly better on 120 validation documents (good summaries "
        "74.0 %, base 69.0 %; difference 5.0 %, standard error 2.0 %)."
    )
    # Where less is better the difference is below 0.
    made = choice("base", "control", "not clearly better")
    made["systems"]["control"] |= {"quality": 0.64, "difference": -0.05}
    keep, _ = told(made, by=("mentions", "unsupported"))
    assert "difference 5.0 %," in keep


def test_few_documents_choose_nothing():
    keep, _ = told(choice("base", "brioInf", "few documents", 12))
    assert keep.startswith("No system was chosen, because 12 validation documents are too few")
    assert "20 or more" in keep
    assert "Keep" not in keep


def test_who_was_left_out_is_named_with_the_condition():
    out = {"control": ["rouge_loss", "length_change"]}
    keep, *_ = told(choice(**out))
    assert keep.endswith(
        " Left out: control (loses too much ROUGE-1 and its length differs too much)."
    )
    out = {"control": ["length_change"], "brioInf": ["rouge_loss"]}
    keep, *_ = told(choice("base", reason="base is best", **out))
    assert keep.startswith("Keep `base`: no other system that meets the conditions is better")
    assert keep.endswith(
        " Left out: brioInf (loses too much ROUGE-1), control (its length differs too much)."
    )


def test_a_better_system_that_was_left_out_makes_the_kept_one_not_the_best():
    made = choice(control=["rouge_loss"])
    made["systems"]["control"]["quality"] = 0.9
    keep, *_ = told(made)
    assert keep.startswith("Keep `brioInf`: no other system that meets the conditions is better on")
    assert keep.endswith("(good summaries 81.0 %, base 69.0 %). Left out: control (loses too much "
                         "ROUGE-1).")  # fmt: skip


KEPT = {"chosen": "base", "reason": "base is best"}


def test_a_better_system_that_was_left_out_for_its_length_is_told_with_numbers_and_key():
    _, length, _ = told(choice(**KEPT, control=["length_change"], brioInf=["rouge_loss"]))
    for part in (
        "`control`", "good summaries 74.0 % against 69.0 %", "12.3 words", "base 30.0",
        "choice.length_change=null",
    ):  # fmt: skip
        assert part in length
    # Of several the best.
    made = choice(**KEPT, control=["length_change"], brioInf=["length_change"])
    _, length, _ = told(made)
    assert "`brioInf`" in length
    assert "81.0 %" in length
    # As clearly as the choice asks for, an error is .02 and the difference .12.
    assert length in told(made, standard_errors=5.9)
    assert length not in told(made, standard_errors=6.1)
    # Where less is better too.
    made["systems"]["control"] |= {"quality": 0.6, "difference": -0.09}
    _, length, _ = told(made, by=("mentions", "unsupported"))
    assert "`control`" in length
    made["systems"]["brioInf"] |= {"quality": 0.5, "difference": -0.19}
    _, length, _ = told(made, by=("mentions", "unsupported"))
    assert "`brioInf`" in length


@pytest.mark.parametrize(
    "changes",
    [
        {"left_out": ["rouge_loss", "length_change"]},
        {"left_out": []},
        {"quality": 0.69, "difference": 0.0},
        {"quality": 0.64, "difference": -0.05},
        {"difference": 0.05, "standard_error": 0.05},
        {"difference": None, "standard_error": None},
    ],
)
def test_no_other_system_is_said_to_do_better(changes):
    made = choice(**KEPT, control=["length_change"], brioInf=["rouge_loss"])
    assert len(told(made)) == 3
    made["systems"]["control"] |= changes
    assert len(told(made)) == 2


def test_a_chosen_system_that_is_as_good_and_too_few_documents_say_nothing_of_length():
    for quality in (0.74, 0.81):
        made = choice(control=["length_change"])
        made["systems"]["control"] |= {"quality": quality, "difference": 0.12}
        assert len(told(made)) == 3
    few = choice("base", "base", "few documents", 12, control=["length_change"])
    assert len(told(few)) == 2


MATTERS, HARM = "The order of the candidates matters here.", "this order does harm here."
KEEPS, LOSES = "that the control loses.", "that this order loses."
NOTHING, CHANCE = "nothing here shows that the order", "may be chance"


# Shares are printed in per cent with one digit: .0004 is 0.0, .0006 is 0.1.
@pytest.mark.parametrize(
    ("good", "said"),
    [
        ((0.05, 0.01, 0.09), {MATTERS}),
        ((0.05, 0.0006, 0.09), {MATTERS}),
        ((0.05, 0.0004, 0.09), {CHANCE, NOTHING}),
        ((0.05, 0.0, 0.09), {CHANCE, NOTHING}),
        ((0.05, -0.01, 0.09), {CHANCE, NOTHING}),
        ((-0.05, -0.09, 0.01), {CHANCE, NOTHING}),
        ((-0.05, -0.09, 0.0), {CHANCE, NOTHING}),
        ((-0.05, -0.09, -0.0004), {CHANCE, NOTHING}),
        ((-0.05, -0.09, -0.0006), {HARM}),
        ((-0.05, -0.09, -0.01), {HARM}),
    ],
)
def test_what_the_control_says_of_the_order(good, said):
    *_, order = told(choice(), {"brioInf - control": numbers(good)})
    every = {MATTERS, HARM, KEEPS, LOSES, NOTHING, CHANCE}
    assert {sentence for sentence in every if sentence in order} == said
    # What ROUGE-1 says changes nothing where the difference is clear.
    if said != {CHANCE, NOTHING}:
        *_, same = told(choice(), {"brioInf - control": numbers(good, r1=(2.0, 1.0, 3.0))})
        assert same == order


@pytest.mark.parametrize(
    ("r1", "said"),
    [
        ((2.6, 1.0, 4.0), {CHANCE, KEEPS}),
        ((2.6, 0.06, 4.0), {CHANCE, KEEPS}),
        ((2.6, 0.04, 4.0), {CHANCE, NOTHING}),
        ((2.6, 0.0, 4.0), {CHANCE, NOTHING}),
        ((2.6, -0.2, 4.0), {CHANCE, NOTHING}),
        ((-2.6, -4.0, 0.2), {CHANCE, NOTHING}),
        ((-2.6, -4.0, -0.04), {CHANCE, NOTHING}),
        ((-2.6, -4.0, -0.06), {CHANCE, LOSES}),
        (None, {CHANCE, NOTHING}),
    ],
)
def test_as_good_as_the_control_rouge_says_what_the_order_keeps(r1, said):
    *_, order = told(choice(), {"brioInf - control": numbers((0.01, -0.02, 0.04), r1=r1)})
    every = {MATTERS, HARM, KEEPS, LOSES, NOTHING, CHANCE}
    assert {sentence for sentence in every if sentence in order} == said
    if KEEPS in said:
        assert f"of ROUGE-1: +2.60 [+{r1[1]:.1f}, +4.0]" in order


@pytest.mark.parametrize(
    ("unsupported", "said"),
    [
        ((-0.05, -0.09, -0.01), MATTERS),
        ((0.05, 0.01, 0.09), HARM),
        ((-0.05, -0.09, 0.01), NOTHING),
    ],
)
def test_less_may_be_better(unsupported, said):
    gaps = {"brioInf - control": numbers(unsupported=unsupported)}
    *_, order = told(choice(), gaps, ("mentions", "unsupported"))
    assert said in order
    assert "unsupported 25.0 %" in order


@pytest.mark.parametrize(
    ("good", "said"),
    [
        ((0.05, 0.01, 0.09), "]. brioInf is better."),
        ((-0.05, -0.09, -0.01), "]. The control is better."),
        ((0.05, -0.01, 0.09), "], which may be chance."),
    ],
)
def test_a_system_without_an_order_says_nothing_of_orders(good, said):
    gaps = {"brioInf - control": numbers(good, r1=(2.0, 1.0, 3.0))}
    *_, order = told(choice(), gaps, ordered=False)
    assert order.endswith(said)
    assert "order of" not in order


def test_the_control_itself_is_chosen():
    gaps = {"control - base": numbers((0.05, 0.01, 0.09))}
    keep, gain, order = told(choice("control"), gaps)
    assert keep.startswith("Keep `control`: no other system is better")
    assert "75.0 % (+5.0 [+1.0, +9.0])" in gain
    assert "is the chosen system" in order
    # An order that was left out for its length may do better, and a worse one matters too.
    assert "does not matter" not in order
    assert order.endswith(
        "among the systems that could be kept no order of the candidates did better."
    )


def test_without_a_control_the_command_that_trains_one():
    for made in (choice(), choice("base", reason="base is best")):
        *_, order = told(made, control=None)
        assert "dvc exp run -S '+tuned.control.scoring.shuffle=true'" in order


def test_a_number_that_is_missing_is_unknown():
    *_, order = told(choice())
    assert order.endswith("75.0 %; difference of brioInf to it: unknown.")
    *_, order = told(choice("base", reason="base is best"))
    assert order.endswith("75.0 %; difference to base: unknown.")
    *_, order = told(choice(), systems=SYSTEMS | {"control": numbers(r1=40.0)})
    assert order.endswith("was not measured.")


@pytest.mark.parametrize(("checked", "warns"), [(0.3, True), (0.499, True), (0.5, False)])
def test_few_checked_summaries_are_a_warning_of_mentions_alone(checked, warns):
    seen = {"checked": number(checked), "details": number(0.4)}
    systems = {name: made | {"mentions": made["mentions"] | seen} for name, made in SYSTEMS.items()}
    lines = told(choice(), systems=systems)
    assert ("minicheck" in lines[-1]) == warns
    if warns:
        assert f"{100 * checked:.0f} % of the summaries of brioInf (0.4 " in lines[-1]
    # What is kept counts: of base's summaries all can be checked.
    systems["base"] = {"mentions": systems["base"]["mentions"] | {"checked": number(1.0)}}
    assert ("minicheck" in told(choice(), systems=systems)[-1]) == warns
    # Another metric decided: the world's judge sees all of its texts.
    judged = {name: made | {"judge": {"good": number(0.7)}} for name, made in systems.items()}
    assert "minicheck" not in " ".join(told(choice(), by=("judge", "good"), systems=judged))
