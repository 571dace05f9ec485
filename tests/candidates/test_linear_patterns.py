"""Patterns over what strangers wrote: a million signs of the worst kind take seconds."""

import time

from brido.candidates.cleaning import clean
from brido.checkers.mentions import Mention
from brido.evaluation.geval.parsing import read_marks
from brido.evaluation.mentions import kinds_of
from brido.utils.control_tokens import break_control_tokens, without_end_tokens
from brido.utils.thoughts import without_thoughts

SIGNS = 10**6


def marks(text):
    return read_marks(text, ["coherence"])


def kinds(text):
    return kinds_of([Mention("number", "1", False, 0, 1)], text, False)


# Each is repeated until it has a million signs; the last part stands once, at the end.
WORST = [
    (clean, "[a](http://x", ""),
    (clean, "- \n", ""),
    (clean, "Summary: ", ""),
    (clean, "<summary>", "</summary>"),
    (clean, "\\boxed{", "}"),
    (clean, "I'm sorry, I cannot ", ""),
    (without_end_tokens, "</s>", ""),
    (break_control_tokens, "<|", ""),
    (without_thoughts, "<a:think>", ""),
    (without_thoughts, "<think></think><answer></answer> ", ""),
    (marks, "{", ""),
    (marks, '{"a":\n', ""),
    (marks, "Score: 1. a\n", ""),
    (marks, "score (1 - " + " " * 90 + "\n", ""),
    (marks, "4" * 999 + "\n", ""),
    (kinds, "1 May ", ""),
]


def test_a_million_signs_of_the_worst_kind_take_seconds():
    """A pattern that goes back over the text for every sign would take hours."""
    slow = []
    for function, part, last in WORST:
        text = (part * (SIGNS // len(part) + 1))[:SIGNS] + last
        start = time.process_time()
        function(text)
        if (seconds := time.process_time() - start) > 20:
            slow.append((function.__name__, part, seconds))
    assert slow == []
