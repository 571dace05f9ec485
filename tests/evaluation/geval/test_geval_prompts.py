"""Prompts: the project's own and a user's."""

import pytest

from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.parsing import Missing, read_marks
from brido.evaluation.geval.prompts import load_prompt
from brido.utils.errors import BridoError

DOCUMENT, SUMMARY = "A document about a bridge.", "A bridge opened."


def test_the_merged_prompt_asks_for_all_marks_at_once():
    prompt = load_prompt("merged")
    assert prompt.groups == (CRITERIA,)
    text = prompt.render(DOCUMENT, SUMMARY, CRITERIA)
    assert DOCUMENT in text
    assert SUMMARY in text
    for title in ("Coherence (1-5)", "Consistency (1-5)", "Fluency (1-3)", "Relevance (1-5)"):
        assert title in text
    assert text.index(DOCUMENT) < text.index(SUMMARY)


def test_the_separate_prompt_asks_one_criterion_a_call_and_fluency_without_the_source():
    prompt = load_prompt("separate")
    assert prompt.groups == tuple((criterion,) for criterion in CRITERIA)
    for group in prompt.groups:
        text = prompt.render(DOCUMENT, SUMMARY, group)
        assert SUMMARY in text
        assert (DOCUMENT in text) == (group != ("fluency",))
        named = {name for name in CRITERIA if f"{name.title()} (1-" in text}
        assert named == set(group)


@pytest.mark.parametrize("name", ["merged", "separate"])
def test_the_form_in_the_prompt_is_no_answer(name):
    prompt = load_prompt(name)
    for group in prompt.groups:
        text = prompt.render(DOCUMENT, SUMMARY, group)
        marks = read_marks(text, group)
        assert all(isinstance(mark, Missing) for mark in marks.values()), marks


def test_braces_in_documents_are_data(tmp_path):
    document, summary = "{{ 7 * 7 }} {% for %}", "{# gone? #} {{ document }}"
    text = load_prompt("merged").render(document, summary, CRITERIA)
    assert document in text
    assert summary in text


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Mark {{ summry }} of {{ document }}", "summry"),
        ("Mark {{ document }}", "does not use {{ summary }}"),
        ("Mark {{ summary", "line 1"),
        (b"\xff\xfe{{ summary }}", "UTF-8"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(tmp_path, content, message):
    path = tmp_path / "prompt.jinja"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BridoError, match="prompt") as error:
        load_prompt(str(path))
    assert message in str(error.value)


def test_a_prompt_that_is_not_there():
    with pytest.raises(BridoError, match=r"no file nowhere\.jinja.*merged and separate"):
        load_prompt("nowhere.jinja")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{{ summary.__class__.__mro__ }}", "unsafe"),
        ("{% for i in range(10**9) %}{{ summary }}{% endfor %}", "too big"),
        ("{{ summary / 2 }}", "unsupported operand"),
        ("{{ summary }}{{ document.nothing.more }}", "no attribute 'nothing'"),
    ],
)
def test_a_users_prompt_cannot_reach_into_python_nor_do_what_texts_cannot(
    tmp_path, content, message
):
    path = tmp_path / "prompt.jinja"
    path.write_text(content)
    with pytest.raises(BridoError, match=r"geval\.prompt: prompt\.jinja cannot be filled") as error:
        load_prompt(str(path))
    assert message in str(error.value)
