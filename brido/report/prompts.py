"""The prompt that a model was asked with, and where it cut each document."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brido.models.settings import ReadingSettings
from brido.report.stored import read_json
from brido.utils.errors import parsing


@dataclass(frozen=True)
class Asked:
    """One model's prompt: the text before, between and behind the places of the document.

    read: of each document, how many of its characters the model read.
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
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt

    stage = f"checkpoint@{folder.name}"
    if read_json(folder / "config.json", stage).get("is_encoder_decoder", False):
        return None
    with parsing(lambda reason: f"{folder} is damaged ({reason}): `dvc repro -f {stage}`"):
        prompt = Prompt.of(load_tokenizer(folder), reading)
    begin = str(prompt.tokenizer.decode(list(prompt.first)))
    pieces = (begin + prompt.pieces[0], *prompt.pieces[1:])
    limit = reading.max_source_tokens
    return Asked(model, pieces, [len(prompt.cut(document, limit)) for document in documents])
