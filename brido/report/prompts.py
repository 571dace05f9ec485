"""What a prompted model was asked, for the page: its prompt, and where it cut a document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brido.utils.errors import BridoError, parsing

if TYPE_CHECKING:
    from brido.models.prompt import Prompt
    from brido.models.settings import ReadingSettings


@dataclass(frozen=True)
class Asked:
    """One model's prompt: the text before, between and behind the places of the document.

    `read` holds, for each of some documents, how many of its characters the model read.
    """

    model: str
    pieces: Sequence[str]
    read: Sequence[int]


def asked(
    model: str, folder: Path, reading: ReadingSettings, documents: Sequence[str]
) -> Asked | None:
    """How the model in `folder` was asked about `documents`; None where it takes no prompt.

    Raises:
        BridoError: the folder is missing or damaged.
    """
    remedy = f"`dvc repro checkpoint@{folder.name}`"
    try:
        text = (folder / "config.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BridoError(f"{folder} is missing: make it with {remedy}") from None
    with parsing(lambda reason: f"{folder} is damaged ({reason}): make it again with {remedy}"):
        if json.loads(text).get("is_encoder_decoder", False):
            return None
        prompt = _prompt(folder, reading)
    begin = prompt.tokenizer.decode(list(prompt.first))
    pieces = (begin + prompt.pieces[0], *prompt.pieces[1:])
    limit = reading.max_source_tokens
    return Asked(model, pieces, [len(prompt.cut(document, limit)) for document in documents])


def _prompt(folder: Path, reading: ReadingSettings) -> Prompt:
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt

    return Prompt.of(load_tokenizer(folder), reading)
