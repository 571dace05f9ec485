"""The decoding that a checkpoint's folder and section `decoding` give together."""

from pathlib import Path
from typing import Any

from brido.search.own_search import own_search, says_length
from brido.search.settings import DecodingSettings
from brido.utils.errors import BridoError, parsing
from brido.utils.json_lines import parse_object
from brido.utils.progress import say


def search_settings(folder: Path, settings: DecodingSettings) -> dict[str, Any]:
    """The settings in use: params.yaml's where given, else the checkpoint's, else the defaults.

    Raises:
        BridoError: the folder has no settings, or a decoder-only model's do not say how long a
            summary may be.
    """
    checkpoint = _part(folder, "generation_config.json")
    behind_prompts = not _part(folder, "config.json").get("is_encoder_decoder", False)
    used = own_search(checkpoint, settings.model_dump(), behind_prompts)
    if settings.max_length is None and not says_length(checkpoint, behind_prompts):
        if behind_prompts:
            raise BridoError(
                "decoding.max_length: set it, because the generation_config of "
                f"{folder.name} lacks max_new_tokens"
            )
        say(
            f"decode {folder.name}: neither decoding.max_length nor the checkpoint says how "
            f"long a summary may be: {used['max_length']} tokens"
        )
    return used


def _part(folder: Path, name: str) -> dict[str, Any]:
    if not (path := folder / name).is_file():
        raise BridoError(f"{path} is missing: {_remedy(folder, '')}")
    with parsing(lambda reason: f"{path} cannot be read: {reason}"):
        text = path.read_text(encoding="utf-8")
    try:
        return parse_object(text)
    except BridoError as error:
        raise BridoError(f"{path} is damaged ({error}): {_remedy(folder, '-sf ')}") from None


def _remedy(folder: Path, force: str) -> str:
    return (
        f"`dvc repro {force}checkpoint@{folder.name}` makes the checkpoint, or "
        f"`dvc repro {force}train@{folder.name}` if it is a key of `tuned`"
    )
