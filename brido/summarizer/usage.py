"""brido.json: how an exported model reads and decodes.

It stands beside generation_config.json. transformers ignores it.
"""

import json
import shutil
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from brido.candidates.decoding import model_kind, read_object, search_settings
from brido.candidates.settings import LocalSource
from brido.models.chats import pieces_of
from brido.models.settings import ReadingSettings
from brido.search.settings import DecodingSettings, GuidanceSettings
from brido.summarizer.settings import CheckedSettings
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError
from brido.utils.sections import Section, checked

USAGE_FILE = "brido.json"
# Without these transformers takes other tokens, spaces and ends, and nothing says so.
_BESIDE = ("generation_config.json", "tokenizer_config.json")


class Usage(Section):
    """`brido.json`: what a model's folder says about its use.

    system: its name in the run. base: SHA-256 of the weights from which it was tuned. verdict: what
    the run says about it. lowercase: whether it reads lower-case documents (`data.lowercase`).
    decoding: where a key is null, generation_config.json says it. checked: how its summaries are
    checked, None: not, unless asked for; candidates: how the model writes them then.
    """

    format: Literal[1] = 1
    system: str = ""
    base: str | None = None
    verdict: str = ""
    lowercase: bool = False
    reading: ReadingSettings = Field(default_factory=ReadingSettings)
    decoding: DecodingSettings = Field(default_factory=DecodingSettings)
    guidance: GuidanceSettings | None = None
    checked: CheckedSettings | None = None
    candidates: LocalSource | None = None


def usage_of(
    folder: str | Path,
    reading: ReadingSettings,
    decoding: DecodingSettings,
    guidance: GuidanceSettings | None = None,
    system: str = "",
    **others: Any,
) -> Usage:
    """The usage of a system of a run: the decoding is the one that stage decode uses.

    folder: of its checkpoint. decoding: section `decoding`, with the keys of the system's variant.
    others: further keys of Usage.

    Raises:
        BridoError: the folder lacks its settings, or nothing says how long a summary may be.
    """
    used = DecodingSettings(**search_settings(Path(folder), decoding))
    keys = set(GuidanceSettings.model_fields)
    guided = guidance and GuidanceSettings(**guidance.model_dump(include=keys))
    return Usage(system=system, reading=reading, decoding=used, guidance=guided, **others)


def write_usage(folder: str | Path, usage: Usage) -> None:
    """Write brido.json into a model's folder, whole or not at all."""
    write_text(Path(folder) / USAGE_FILE, usage.model_dump_json(indent=2) + "\n")


def write_model(model: Path, folder: Path, usage: Usage) -> None:
    """Copy a checkpoint of a run into a folder that others get, with its usage.

    The record of where it comes from stays behind: it may name paths of this computer.
    """
    shutil.copytree(model, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("source.json"))
    write_usage(folder, usage)


def tell_transformers(folder: Path) -> None:
    """Write the decoding of brido.json into generation_config.json, which other programs read.

    They count the new tokens: the start token, which our lengths of encoder-decoders count, is
    none, and neither is a prompt.

    Raises:
        BridoError: a file of the folder is missing or damaged.
    """
    path, usage = folder / "generation_config.json", read_usage(folder)
    assert usage is not None
    given = 1 if model_kind(folder)[0].is_encoder_decoder else 0
    search = search_settings(folder, usage.decoding) | {"do_sample": False}
    for end in ("min", "max"):
        search[f"{end}_new_tokens"] = max(0, search.pop(f"{end}_length") - given)
    told = read_object(path) | search
    told = {name: told[name] for name in told if name not in ("min_length", "max_length")}
    write_text(path, json.dumps(told, indent=2, sort_keys=True) + "\n")


def read_usage(folder: str | Path) -> Usage | None:
    """What brido.json of a model's folder says; None if there is no such file.

    A stranger may have written it: every key is checked.

    Raises:
        BridoError: the file is damaged or alone, or keys or values are wrong (all named).
    """
    path = Path(folder) / USAGE_FILE
    if not path.is_file():
        return None
    if missing := [name for name in _BESIDE if not path.with_name(name).is_file()]:
        raise BridoError(
            f"{path} stands without {' and '.join(missing)}: copy the whole folder of the model"
        )
    heading = f"{path} has wrong keys (delete the file, and give options in its place):"
    usage = checked(Usage, read_object(path), heading)
    if usage.reading.prompt is not None:
        pieces_of(usage.reading.prompt, f"{path}: reading.prompt")
    return usage
