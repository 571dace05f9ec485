"""Prompts: the project's own and a user's."""

import pytest

from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.parsing import Missing, read_marks
from brido.evaluation.geval.prompts import load_prompt
from brido.utils.errors import BridoError

DOCUMENT, SUMMARY = "A document about a bridge.", "A bridge opened."


def test_the_merged_prompt_asks_for_all_marks_at_once_and_the_separate_one_by_one():
    """Fluency is asked for without the source; what a text spells in braces is data."""
    document, summary = "{{ 7 * 7 }} {% for %}", "{# gone? #} {{ document }}"
    merged, separate = load_prompt("merged"), load_prompt("separate")
    assert merged.groups == (CRITERIA,)
    assert separate.groups == tuple((criterion,) for criterion in CRITERIA)
    for prompt, group in ((merged, CRITERIA), *((separate, group) for group in separate.groups)):
        text = prompt.render(document, summary, group)
        assert summary in text
        assert (document in text) == (group != ("fluency",))
        scales = {name: "1-3" if name == "fluency" else "1-5" for name in CRITERIA}
        assert {n for n in CRITERIA if f"{n.title()} ({scales[n]})" in text} == set(group)


@pytest.mark.parametrize("name", ["merged", "separate"])
def test_the_form_in_the_prompt_is_no_answer(name):
    prompt = load_prompt(name)
    for group in prompt.groups:
        text = prompt.render(DOCUMENT, SUMMARY, group)
        marks = read_marks(text, group)
        assert all(isinstance(mark, Missing) for mark in marks.values()), marks


def test_a_users_file_for_one_call_or_for_four(tmp_path):
    merged = tmp_path / "mine.jinja"
    merged.write_text("Mark {{ summary }} against {{ document }}.")
    assert load_prompt(str(merged)).groups == (CRITERIA,)
    assert load_prompt(str(merged)).name == "mine.jinja"
    separate = tmp_path / "each.jinja"
    separate.write_text("{{ criterion }} from {{ lowest }} to {{ highest }}: {{ summary }}")
    prompt = load_prompt(str(separate))
    assert prompt.render("", "x", ("fluency",)) == "fluency from 1 to 3: x"
    assert prompt.hash != load_prompt(str(merged)).hash
    separate.write_text("{{criterion|title}}: {{summary|upper}}")
    assert load_prompt(str(separate)).render("", "x", ("fluency",)) == "Fluency: X"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Mark {{ summry }} of {{ document }}", "summry"),
        ("Mark {{ document }}", "does not use {{ summary }}"),
        ("Mark {{ summary", "unexpected end of template"),
        (b"\xff\xfe{{ summary }}", "utf-8"),
        (None, "merged and separate"),
        # A template of a user's cannot reach into Python, nor do what texts cannot.
        ("{{ summary.__class__.__mro__ }}", "unsafe"),
        ("{% for i in range(10**9) %}{{ summary }}{% endfor %}", "too big"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(tmp_path, content, message):
    path = tmp_path / "prompt.jinja"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BridoError, match=r"evaluation\.geval\.prompt: .*prompt\.jinja") as error:
        load_prompt(str(path))
    assert message in str(error.value)
