"""The turns of a chat about a document, and the text that a chat template makes of them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from brido.models.document_places import pieces_of
from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError, first_line
from brido.utils.json_lines import holds_half_pair

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# How templates write today's date, with which they would ask another question every day.
_TODAY = re.compile(r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""")


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
                chat_template=_TODAY.sub(_first_of_2025, source),
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


def _first_of_2025(today: re.Match[str]) -> str:
    return repr(datetime(2025, 1, 1).strftime(today[2]))


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
        if holds_half_pair(getattr(reading, key))
    ]
    if reading.prompt is not None:
        try:
            pieces_of(reading.prompt, f"{section}.prompt")
        except BridoError as error:
            problems.append(str(error))
    return problems
