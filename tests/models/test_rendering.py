"""Chat templates of strangers: rendered as transformers renders them, within time and memory."""

import resource
import sys

import pytest
from tiny_chat import CHATML, NO_SYSTEM, THINKING, chat_tokenizer

from brido.models import rendering
from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError

TURNS = [
    {"role": "system", "content": "Be <b>short</b>."},
    {"role": "user", "content": "Grüße, “hello”\n  {{ 7 }}"},
    {"role": "assistant", "content": "Yes."},
]
TEMPLATES = {
    "chatml": CHATML,
    "no system": NO_SYSTEM.replace("{{ raise_exception", "{{ '' if true else raise_exception"),
    "thinking": THINKING,
    "json": "{{ messages | tojson }}{{ messages | tojson(indent=2, sort_keys=true) }}",
    "loops": "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}"
    "{{ m.role }}{% break %}{% endfor %}",
    "generation": "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}",
    "namespace": "{% set n = namespace(a=1) %}{% set n.a = 2 %}{{ n.a }}{{ dict(b=3).b }}"
    "{{ dict.fromkeys([1, 2]) }}",
    "white space": "  {% if true %}\n  a\n  {% endif %}\n{{ bos_token }}|{{ tools is none }}\n",
    "undefined": "{{ nothing }}|{{ documents is defined }}|{{ add_generation_prompt }}",
}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_it_is_what_transformers_writes(template):
    tokenizer = chat_tokenizer(template)
    expected = tokenizer.apply_chat_template(TURNS, tokenize=False, add_generation_prompt=True)
    given = {"tools": None, "documents": None, "add_generation_prompt": True}
    context = {**given, **tokenizer.special_tokens_map, "messages": TURNS}
    assert rendering.render_chats(template, [context]) == [expected]


TWICE = "{% set ns = namespace(t='xy') %}{% for i in range(90) %}{% set ns.t = ns.t ~ ns.t %}"
HOSTILE = {
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
    "{% endfor %}{{ messages[-1].content }}",
    "a long text": "{{ 'x' * 10 ** 10 }}",
    "a long text, when compiled": "{% set a = 'x' * 10 ** 10 %}{{ a | length }}",
    "a large number": "{{ (3 ** (10 ** 9)) % 7 }}",
    "a text doubled": TWICE + "{% endfor %}{{ ns.t | length }}",
    "much written": "{% for a in range(99999) %}{{ 'x' * 999 }}{% endfor %}",
    "macros without end": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}"
    "{% endmacro %}{{ a() }}",
    "two calls each": "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}"
    "{% endmacro %}{{ a(60) }}",
    "a long list": "{{ ([1] * 10 ** 9) | sum }}",
    "a deep expression": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "a deep list": "{{ " + "[" * 50_000 + "]" * 50_000 + " }}",
    "a wide join": "{{ ('x' * 10 ** 5) | list | join(' ' * 10 ** 5) | length }}",
    "a wide field": "{{ '%2000000000d' % 1 }}",
    "a wide field, formatted": "{{ '{:2000000000d}'.format(1) }}",
    "many fill-ins": "{{ ('{0}' * 10 ** 7).format('x' * 10 ** 3) }}",
    "lipsum": "{{ lipsum(n=10 ** 7) }}",
    "a file": "{{ messages.__class__.__base__.__subclasses__() }}",
    "a hidden name": "{% set n = namespace() %}{% set n.__class__ = 1 %}",
}


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE)
def test_a_template_without_end_is_one_sentence(template, monkeypatch):
    monkeypatch.setattr(rendering, "SECONDS", 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(BridoError, match="the chat template cannot be filled in") as error:
        Prompt.of(chat_tokenizer(template), ReadingSettings(prompt="{{ document }}"))
    assert "\n" not in str(error.value)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    # Kilobytes of the largest process so far.
    assert after.ru_maxrss < 1.3 * 2**20 or sys.platform == "darwin"


def test_a_template_is_rendered_once_for_all_who_ask():
    rendering._answer.cache_clear()
    for _ in range(3):
        Prompt.of(chat_tokenizer(CHATML), ReadingSettings(prompt="{{ document }}"))
    assert rendering._answer.cache_info().misses == 1
