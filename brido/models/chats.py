"""Where a document stands in a prompt and a chat, and the text that a chat template makes of it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from brido.utils.errors import BridoError, first_line, quoted
from brido.utils.rows import is_unicode

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from brido.models.settings import ReadingSettings  # not loaded: the wheel alone has no pydantic

DOCUMENT = "{{ document }}"
_PLACE = re.compile(r"\{\{ *document *\}\}")
_TEMPLATE = re.compile(r"\{[{%#].{0,40}")
# How templates write today's date, with which they would ask another question every day: theirs is
# the first of 2025.
_TODAY = re.compile(r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""")


def pieces_of(prompt: str, key: str = "reading.prompt") -> tuple[str, ...]:
    """What stands before, between and behind the places of the document in a prompt.

    Nothing else is filled in: what a filter, a slice or a condition of a template leaves of a
    document depends on the document. `key` names the prompt in errors.

    Raises:
        BridoError: the prompt has no place for the document, or something else of a template.

    Example:
        >>> pieces_of("Summarise: {{ document }}")
        ('Summarise: ', '')
    """
    pieces = tuple(_PLACE.split(prompt))
    if found := _TEMPLATE.search("\0".join(pieces)):
        raise BridoError(
            f"{key} must contain {DOCUMENT} and nothing else of a template, but has "
            f"{quoted(found[0])}"
        )
    if len(pieces) < 2:
        raise BridoError(f"{key} must contain {DOCUMENT}, which stands for the document")
    return pieces


def rendered(
    tokenizer: PreTrainedTokenizerBase,
    reading: ReadingSettings,
    turns: list[dict[str, str]],
    asks: bool,
) -> str:
    """The chat template's text of some turns; `asks`: up to where the answer begins.

    Raises:
        BridoError: the template fails, or has no switch of `reading.template`.
    """
    switches: dict[str, Any] = reading.template or {}
    day = datetime(2025, 1, 1)
    try:
        source = str(tokenizer.get_chat_template())
        for switch in switches:
            if not re.search(rf"\b{re.escape(switch)}\b", source):
                raise BridoError(f"reading.template: the chat template has no switch {switch!r}")
        return str(
            tokenizer.apply_chat_template(
                turns,
                tokenize=False,
                add_generation_prompt=asks,
                chat_template=_TODAY.sub(lambda today: repr(day.strftime(today[2])), source),
                **switches,
            )
        )
    except BridoError:
        raise
    except Exception as error:  # a stranger's template may raise any
        key = "" if reading.system is None else "reading.system (put it into reading.prompt): "
        raise BridoError(
            f"{key}the chat template cannot be filled in ({first_line(error)})"
        ) from None


def messages(reading: ReadingSettings, document: str) -> list[dict[str, str]]:
    """Return the chat messages that ask about a whole document, for a server that has the template.

    Raises:
        BridoError: `reading.prompt` cannot be used.
    """
    system = [] if reading.system is None else [{"role": "system", "content": reading.system}]
    pieces = ("", "") if reading.prompt is None else pieces_of(reading.prompt)
    return [*system, {"role": "user", "content": document.join(pieces)}]


def message_problems(reading: ReadingSettings, section: str) -> list[str]:
    """What keeps the messages of `section` from being sent about any document."""
    problems = [
        f"{section}.{key}: contains half of a surrogate pair, which cannot be sent"
        for key in ("prompt", "system")
        if not is_unicode(getattr(reading, key))
    ]
    if reading.prompt is not None:
        try:
            pieces_of(reading.prompt, f"{section}.prompt")
        except BridoError as error:
            problems.append(str(error))
    return problems
