"""The rules that clean candidates: an example of each, and what they must leave alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.cleaning import RULES, STEPS, clean
from brido.text.thoughts import without_thoughts

TEXT = "The cat sat on the mat, and the dog did not."
# What a model writes around TEXT, and the rules that take it off.
AROUND = [
    ("<think>What now?\nWell.</think>\n\n{}", "think"),
    ("The user wants a summary.</think> {}", "think"),
    (
        "<|channel|>analysis<|message|>A cat.<|end|><|start|>assistant"
        "<|channel|>final<|message|>{}<|return|>",
        "think",
    ),
    ("analysisWe need one sentence.assistantfinal{}", "think"),
    ("<|channel>thought\nThe user wants one sentence.<channel|>{}", "think"),
    ("Here is a summary: {}", "preamble"),
    ("Sure! Here is a brief summary of the text in one sentence: {}", "preamble"),
    ("Summary: {}", "label"),
    ("Summary\n\n{}", "label"),
    ("# {}", "markdown"),
    ("**{}**", "markdown"),
    ("```text\n{}\n```", "markdown"),
    ('"{}"', "quotes"),
    ("{}<|im_end|>", "tokens"),
    ("<|im_start|>assistant\n{}<|im_end|>", "tokens"),
    ('{{"summary": "{}"}}', "frame"),
    ("<summary>\n{}\n</summary>", "frame"),
    ("\\boxed{{{}}}", "frame"),
]
REFUSALS = [
    "I'm sorry, but I can't assist with that request.",
    "As an AI language model, I do not have access to articles.",
    "It seems that no article was provided.",
]
# What people write: nothing here is decoration.
LEFT_ALONE = [
    TEXT,
    "",
    "Here is where the rules end: nobody reads them.",
    "Summary statistics of a network say how well it generalises.",
    "analysis of the data shows that the assistant final is late.",
    "We propose A* search with D* and show that 2 * 3 * 4 = 24.",
    '"My potassium is high"',
    "“The “cat sat on the old mat.”",
    '"Never," he said, and left; she answered: "Always."',
    "The patient says she is sorry, but she cannot help smoking.",
    "<b>Bold</b> claims are made; 3 < 4 and 5 > 4.",
    "It appears that no document was signed at the summit.",
    "Please send the document to Anna by Friday.",
    "\\boxed{a} and \\boxed{b} are boxes.",
    '{"score": 4, "summary": "two keys"}',
]


@pytest.mark.parametrize(("around", "rule"), AROUND)
def test_what_stands_around_a_text_is_taken_off_by_its_rule(around: str, rule: str):
    assert clean(around.format(TEXT)) == (TEXT, (rule,), False)
    # What thinks aloud does so in control tokens.
    others = [name for name in RULES if name != rule and (rule, name) != ("think", "tokens")]
    assert clean(around.format(TEXT), others).text == " ".join(around.format(TEXT).split())


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_seen(text: str):
    cleaned = clean(text)
    assert cleaned.refused
    assert "refusal" in cleaned.rules
    assert not clean(text, [rule for rule in RULES if rule != "refusal"]).refused


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_people_write_is_left_alone(text: str):
    assert clean(text) == (text, (), False)


def test_rules_work_together_in_any_order_that_models_think_of():
    for text in (
        f'<think>Hm.</think>Sure! Here is the summary:\n\n**Summary:** "{TEXT}"',
        f"**Here is a short summary of the article:**\n\n> \n- {TEXT}".replace("> \n", ""),
        f"## Summary:\n\n{TEXT}",
        f'"Summary: {TEXT}"',
        f'Here is the summary:\n```json\n{{"summary": "{TEXT}"}}\n```<|im_end|>',
        f"<think>Hm.</think>\n<answer>{TEXT}</answer>",
        f"<think>Hm.</think>**Summary:** \\boxed{{{TEXT}}}</s>",
    ):
        assert clean(text).text == TEXT


THOUGHTS_WITHOUT_END = [
    "<think>A cat, so", "[THINK]A cat, so", "<|channel|>analysis<|message|>A cat, so",
    "<longcat_think>A cat", "<|channel>thought\nA cat", "analysisWe need one sentence.",
]  # fmt: skip


@pytest.mark.parametrize("text", THOUGHTS_WITHOUT_END)
def test_thoughts_without_an_end_leave_nothing_that_votes(text: str):
    assert without_thoughts(text) == ("", True)
    cleaned = clean(text)
    assert (cleaned.text, cleaned.answers) == ("", False)


@given(st.text(alphabet="ab \n*_#\"'<>/-:`.", max_size=60))
def test_cleaning_ends_changes_nothing_twice_and_keeps_every_letter_outside_of_tags(text: str):
    once = clean(text, [rule for rule in RULES if rule != "think"])
    assert clean(once.text, [rule for rule in RULES if rule != "think"]).text == once.text
    assert [c for c in once.text if c in "ab"] == [c for c in text if c in "ab"]


def test_every_rule_has_its_step_an_example_here_and_its_row_in_the_documents():
    assert {"think", "refusal", *STEPS} == set(RULES)
    assert {"refusal", *(rule for _, rule in AROUND)} == set(RULES)
    options = (Path(__file__).parents[2] / "docs/configuration.md").read_text()
    assert [rule for rule in RULES if f"| `{rule}` |" not in options] == []
