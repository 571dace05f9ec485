"""Chat templates of strangers: rendered as transformers renders them, within time and memory."""

import resource
import sys

import pytest
from tiny_chat import CHATML, THINKING, chat_tokenizer

from brido.models import rendering
from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError

TURNS = [{"role": "user", "content": "Grüße, <b>“hello”</b>\n  {{ 7 }}"}]


@pytest.mark.parametrize("template", [THINKING, "{{ messages | tojson(indent=2) }}"])
def test_it_is_what_transformers_writes(template):
    tokenizer = chat_tokenizer(template)
    expected = tokenizer.apply_chat_template(TURNS, tokenize=False, add_generation_prompt=True)
    given = {"add_generation_prompt": True, **tokenizer.special_tokens_map}
    assert rendering.render_chats(template, [TURNS], given) == [expected]


HOSTILE = {
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
    "{% endfor %}{{ messages[-1].content }}",
    "a long text": "{{ 'x' * 10 ** 10 }}",
    "a long text, when compiled": "{% set a = 'x' * 10 ** 10 %}{{ a | length }}",
    "a large number": "{{ (3 ** (10 ** 9)) % 7 }}",
    "much written": "{% for a in range(99999) %}{{ 'x' * 999 }}{% endfor %}",
    "macros without end": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}"
    "{% endmacro %}{{ a() }}",
    "a deep expression": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "a wide field": "{{ '{:2000000000d}'.format(1) }}",
    "a file": "{{ messages.__class__.__base__.__subclasses__() }}",
    "a hidden name": "{% set n = namespace() %}{% set n.__class__ = 1 %}",
    "an error": "{{ 1 / 0 }}",
    "no template": "{% for %}",
    "a refusal": "{{ raise_exception('no') }}",
}


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE)
def test_a_template_without_end_is_one_sentence(template, monkeypatch):
    monkeypatch.setattr(rendering, "SECONDS", 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Before transformers 5.23 a hidden name may be set, and the text then lacks the document.
    refused = "the chat template cannot be filled in|must contain {{ document }}"
    with pytest.raises(BridoError, match=refused) as error:
        Prompt.of(chat_tokenizer(template), ReadingSettings(prompt="{{ document }}"))
    assert "\n" not in str(error.value)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    # Kilobytes of the largest child so far. Linux counts this process, up to exec, as its child.
    earlier = max(before.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert after.ru_maxrss <= max(earlier, 1.3 * 2**20) or sys.platform == "darwin"


def test_a_template_is_rendered_once_for_all_who_ask():
    rendering._answer.cache_clear()
    for _ in range(3):
        Prompt.of(chat_tokenizer(CHATML), ReadingSettings(prompt="{{ document }}"))
    assert rendering._answer.cache_info().misses == 1
