"""A model's folder, checked before it is loaded, and how it is used."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from pydantic import ValidationError

from brido.models.settings import ReadingSettings
from brido.search import SearchSettings
from brido.search.own_search import own_search, says_length
from brido.search.settings import GuidanceSettings
from brido.summarizer.usage import USAGE_FILE, Usage, read_object, read_usage
from brido.summarizer.writer import Long, Writing
from brido.utils.arguments import check_choices
from brido.utils.errors import ArgumentError, BridoError, close_to, parsing, quoted

if TYPE_CHECKING:
    from brido.models.interface import Family

# What a model without brido.json reads at most, if it can.
LONGEST_SOURCE = 1024
# The penalty of candidates' groups of beams, as in the paper.
DIVERSITY_PENALTY = 1.0


def usage_in(folder: Path, changes: Mapping[str, Any] | None = None) -> Usage:
    """How to use the model of a folder: its brido.json, or defaults, with the keys of `changes`.

    changes: keys of `reading` and `decoding` by their names; those that are None are passed over.

    Raises:
        BridoError: there is no model in the folder, it cannot write, or settings are wrong.
    """
    config = model_config(folder)
    usage = read_usage(folder)
    if usage is None:
        usage = Usage(reading=ReadingSettings(max_source_tokens=_readable(folder, config)))
    return changed(usage, changes or {})


def changed(usage: Usage, changes: Mapping[str, Any]) -> Usage:
    """The usage with other values of keys of `reading` and `decoding`; None changes nothing.

    Raises:
        BridoError: changes is not a dictionary, a key is unknown, or a value does not fit.
    """
    if not isinstance(changes, Mapping):
        raise ArgumentError(
            f"changes must be a dictionary such as {{'max_length': 80}}, not {quoted(changes)}"
        )
    for key, value in changes.items():
        if value is not None:
            own = value.item() if isinstance(value, np.generic) else value
            usage = _changed(usage, key, own)
    return usage


def _readable(folder: Path, config: Mapping[str, Any]) -> int:
    """The tokens that a model without brido.json reads: half of the positions it has, at most."""
    names = ("max_position_embeddings", "n_positions")
    positions = next((config[name] for name in names if type(config.get(name)) is int), None)
    if positions is None:
        # Settings may hold those of two models, or of a part that reads.
        positions = most_source_tokens(folder, 0)
    if positions is None:
        return LONGEST_SOURCE
    room = positions if config.get("is_encoder_decoder") else positions // 2
    return max(4, min(LONGEST_SOURCE, room))


def _changed(usage: Usage, key: str, value: Any) -> Usage:
    part = "reading" if key in ReadingSettings.model_fields else "decoding"
    raw = usage.model_dump()
    known = raw[part]
    if key not in known:
        raise BridoError(f"{key} is not a setting of `reading` or `decoding`{close_to(key, known)}")
    known[key] = value
    try:
        return Usage.model_validate(raw)
    except ValidationError as error:
        reasons = "; ".join(item["msg"] for item in error.errors())
        raise BridoError(f"{part}.{key}: {quoted(value)} cannot be used ({reasons})") from None


def model_config(folder: Path) -> dict[str, Any]:
    """What config.json of a model's folder says.

    Raises:
        BridoError: there is no model in the folder, or one that cannot write.
    """
    if not folder.exists():
        raise BridoError(f"{folder}: there is no such folder (a model of a hub: download it first)")
    config = folder / "config.json"
    if not config.is_file():
        made = "" if folder.is_dir() else "; it is a file, and a model is a folder"
        raise BridoError(f"{folder} is not a model: it has no config.json{made}")
    raw = read_object(config)
    if not isinstance(raw.get("model_type"), str):
        raise BridoError(f"{config}: `model_type` is missing, so this is not a model's folder")
    return raw


def most_source_tokens(folder: Path, written: int) -> int | None:
    """The tokens that the model of a folder can read; None if it has no limit.

    written: the tokens of a summary, at most, which a decoder-only model writes behind them.

    Raises:
        BridoError: the folder has no config.json of a model that writes text.
    """
    config, family = _kind_of(folder)
    positions = family.positions(config)
    behind = 0 if config.is_encoder_decoder else written
    return None if positions is None else max(0, positions - behind)


def _kind_of(folder: Path) -> tuple[Any, Family]:
    """`family_in`; a BridoError too if config.json cannot be used."""
    from brido.models.checkpoint import family_in

    with parsing(lambda reason: f"{folder}/config.json cannot be used: {reason}"):
        return family_in(folder)


def decoding_of(folder: Path, usage: Usage) -> dict[str, Any]:
    """The keys of SearchSettings with which the model decodes.

    Raises:
        BridoError: the model does not write text, or is decoder-only and nothing says how long a
            summary may be.
    """
    path = folder / "generation_config.json"
    # Models of before 2023 say it in config.json, where transformers reads it too.
    checkpoint = read_object(path if path.is_file() else folder / "config.json")
    behind_prompts = not _kind_of(folder)[0].is_encoder_decoder
    if usage.decoding.max_length is None and not says_length(checkpoint, behind_prompts):
        raise BridoError(
            f"{folder}: neither {USAGE_FILE} nor generation_config.json says how long a summary "
            "may be: give --max-length (tokens; in Python `changes={'max_length': 128}`)"
        )
    return own_search(checkpoint, usage.decoding.model_dump(), behind_prompts)


def check_beams(num_beams: Any, candidates: Any, named: str) -> None:
    """Raise BridoError if a caller asks for another number of beams than candidates have.

    named: how the caller gives the beams.
    """
    if None not in (num_beams, candidates) and num_beams != candidates:
        raise BridoError(
            f"{named}: {quoted(candidates)} candidates are written by as many beams, one each, and "
            f"not by {quoted(num_beams)}: give one of the two"
        )


def writing_of(
    folder: Path,
    usage: Usage,
    guided: bool | None = None,
    candidates: int | None = None,
    long: Long = "cut",
) -> Writing:
    """How summaries are written, with the keys that a caller gives.

    guided: None is as the model's usage says. candidates: so many diverse beams vote.

    Raises:
        BridoError: these settings do not fit together, or one is not what it must be.
    """
    # Both as environments have them, as texts: "no" would be true, and "Refuse" cut.
    check_choices({"long": (long, get_args(Long))})
    if guided is not None and not isinstance(guided, bool):
        raise ArgumentError(f"guided must be True, False or None, not {quoted(guided)}")
    used = decoding_of(folder, usage)
    if candidates is not None:
        # Numbers of NumPy, as counts of a table are, too.
        if not isinstance(candidates, Integral) or candidates < 2:
            raise ArgumentError(
                f"candidates must be a whole number from 2, as a vote needs, not "
                f"{quoted(candidates)}"
            )
        candidates = int(candidates)
        beams = {"num_beams": candidates, "num_beam_groups": candidates}
        used |= beams | {"diversity_penalty": DIVERSITY_PENALTY}
    guidance = usage.guidance
    if guided is not None:
        guidance = (usage.guidance or GuidanceSettings()) if guided else None
    search = SearchSettings(**used, num_return_sequences=candidates or 1, count_prompt=False)
    return Writing(search, guidance, candidates is not None, long, usage.lowercase)
