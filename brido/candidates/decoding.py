"""How a model's folder and section `decoding` together say that it decodes."""

from pathlib import Path
from typing import Any

from brido.search.own_search import own_search, says_length
from brido.search.settings import DecodingSettings
from brido.utils.errors import BridoError, parsing
from brido.utils.stored import record


def search_settings(folder: Path, settings: DecodingSettings) -> dict[str, Any]:
    """The keys of SearchSettings in use: those of `settings` that are not null, else the folder's,
    else transformers' defaults.

    Raises:
        BridoError: a file of the folder is missing or damaged, its model does not write text, or
            nothing says how long a summary may be.
    """
    path = folder / "generation_config.json"
    # Models of before 2023 say it in config.json, where transformers reads it too.
    checkpoint = read_object(path if path.is_file() else folder / "config.json")
    behind_prompts = not model_kind(folder)[0].is_encoder_decoder
    if settings.max_length is None and not says_length(checkpoint, behind_prompts):
        raise BridoError(
            f"decoding.max_length: set it, because {path} does not say how long a summary may be "
            "(`brido summarize --max-length 128`; in Python `changes={'max_length': 128}`)"
        )
    return own_search(checkpoint, settings.model_dump(), behind_prompts)


def model_kind(folder: Path) -> tuple[Any, Any]:
    """transformers' config of a model's folder, and its family (`brido.models.family`).

    Raises:
        BridoError: config.json cannot be used, or is that of a model that does not write text.
    """
    from brido.models.checkpoint import family_in

    read_object(folder / "config.json")
    with parsing(lambda reason: f"{folder}/config.json cannot be used: {reason}"):
        return family_in(folder)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model's folder.

    Raises:
        BridoError: the file is missing or damaged.
    """
    name = path.parent.name
    remedy = (
        "copy the model's folder again. In a project `dvc repro -sf STAGE` makes it: choose for "
        f"data/chosen, train@{name} for a key of `tuned`, else checkpoint@{name}"
    )
    with parsing(lambda reason: f"{path} is damaged ({reason}): {remedy}"):
        return record(path.read_text(encoding="utf-8"), {})
