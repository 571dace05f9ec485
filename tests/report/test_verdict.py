"""The verdict of a run, by hand: its table, its lines, and what each turns on."""
# ruff: noqa: E501 (the printed table)

import pytest

from brido.report.metrics import Estimate
from brido.report.verdict import Measured, verdict, verdict_table, verdict_text

GOOD, R1 = ("mentions", "good"), ("rouge", "r1")
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
minicheck, which did not choose, measures good 66.0 % [61.0, 71.0], against base good +6.0 [+1.0,
  +11.0], better.
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
    return verdict(made, Measured(by, systems, gaps, control, **more))


def test_the_whole_text():
    marks = {"base": (0.6, 0.55, 0.65), "brio": (0.66, 0.61, 0.71), "checked": (0.71, 0.66, 0.76)}
    systems = SYSTEMS | {"checked": numbers(good=(1.0, 1.0, 1.0), unsupported=0.0, cut=0.01)}
    systems |= {name: systems[name] | {"minicheck": {"good": number(*three)}}
                for name, three in marks.items()}  # fmt: skip
    gain = {"minicheck": {"good": number(0.06, 0.01, 0.11)}}
    gaps = GAPS | {"brio - base": GAPS["brio - base"] | gain}
    gaps |= {"brio - checked": {"minicheck": {"good": number(-0.05, -0.09, -0.01)}}}
    notes = {"brio": "kept", "control": "shuffled"}
    shown = {name: systems[name] for name in ("base", "brio", "checked", "control")}
    table = verdict_table(shown, GOOD, READ_GOOD, notes, {"checked": "mentions"})
    lines = told(choice(), gaps, systems=systems, rivals=["checked"], measures=READ_GOOD)
    assert verdict_text(table, lines) == APPROVED


def test_what_training_made_stands_beside_a_kept_system_that_trains_nothing():
    gaps = GAPS | {"base - brio": numbers(good=(-0.05, -0.09, -0.01))}
    lines = told(choice("base"), gaps, trained="brio")
    assert "`brio` against `control`: good +5.0 [+1.0, +9.0], better." in lines
    best = "`base` against `brio`, the best that training made: good -5.0 [-9.0, -1.0], worse."
    assert best in lines
    assert "the best that training made" not in " ".join(told(choice(), trained="brio"))


DETAILS = "(good 81.0 %, base 69.0 %, difference +12.0 with standard error 2.0)."


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (choice("base", "brio", "few documents", 19),
         "Keep `base`: 19 validation documents are too few to choose by; use 20 or more."),
        (choice("base", reason="base is best"),
         "Keep `base`: no other system is better on 120 validation documents (good 69.0 %)."),
        (choice("base", "brio", "not clearly better"),
         f"Keep `base`: `brio` is not clearly better on 120 validation documents {DETAILS}"),
        (choice(control={"left_out": ["rouge_loss", "length_change"], "words": 30.0}),
         f"Keep `brio`: it is best on 120 validation documents {DETAILS} Left out by "
         "choice.rouge_loss and choice.length_change: `control` (good 74.0 %, 30.0 words against "
         "base's 20.0)."),
        (choice(control={"left_out": ["by"]}),
         f"Keep `brio`: it is best on 120 validation documents {DETAILS} `control` cannot be "
         "chosen by mentions, which picked its summaries: another metric in choice.by could."),
    ],
)  # fmt: skip
def test_why_a_system_is_kept(made, line):
    assert told(made)[0] == line


def few(documents):
    return {"gaps": GAPS | {"brio - base": numbers(good=(0.1, 0.06, 0.14, documents))}}


def base_of(**given):
    return {"systems": {"base": numbers(**given)}, "gaps": {}}


TRUST, READ, BETTER_BASE = "fewer than 20 documents can be", "brido read", "More references to"


@pytest.mark.parametrize(
    ("made", "more", "said", "there"),
    [
        (choice(), few(20), "against base (on 20).", True),
        (choice(), few(20), TRUST, False),
        (choice(), few(19), TRUST, True),
        (choice("base"), base_of(good=(0.7, 0.6, 0.8, 19)), TRUST, True),
        (choice(), {}, READ, False),
        (choice(), {"blind": True}, READ, True),
        (choice(), {"blind": True}, "of 100 summaries", False),
        (choice("base"), base_of(good=0.199), BETTER_BASE, True),
        (choice("base"), base_of(good=0.2), BETTER_BASE, False),
        (choice("base"), base_of(good=0.2), "80 of 100 summaries", True),
        (choice("base"), base_of(r1=50.0), "was not measured on test documents", True),
    ],
)
def test_whether_it_is_good_enough(made, more, said, there):
    assert (said in told(made, **more)[1]) == there


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        ((0.05, 0.01, 0.09), "better"),
        ((-0.05, -0.09, -0.01), "worse"),
        ((0.05, -0.01, 0.09), "no clear difference"),
    ],
)
def test_what_another_check_and_the_control_say(gap, said):
    gaps = {"brio - base": {"minicheck": {"good": number(*gap)}}}
    gaps |= {"brio - control": numbers(good=gap)}
    systems = SYSTEMS | {"brio": SYSTEMS["brio"] | {"minicheck": {"good": number(0.66)}}}
    for line in told(choice(), gaps, systems=systems, measures=READ_GOOD)[2:4]:
        assert line.endswith(f"], {said}.")


@pytest.mark.parametrize(("checked", "warns"), [(0.499, True), (0.5, False)])
def test_few_checked_summaries_are_a_warning_where_mentions_decides(checked, warns):
    systems = SYSTEMS | {"brio": numbers(good=0.7, checked=checked)}
    assert ("minicheck" in told(choice(), systems=systems)[-1]) == warns
    assert "minicheck" not in " ".join(told(choice(), by=R1, systems=systems))
