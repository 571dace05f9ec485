"""A model's folder, checked before it is loaded, and how it is used."""

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from brido.candidates.decoding import model_kind, read_object, search_settings
from brido.models.loading import check_place
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings
from brido.search.settings import GuidanceSettings
from brido.summarizer.checked import Checking
from brido.summarizer.settings import CheckedSettings
from brido.summarizer.usage import Usage, read_usage
from brido.summarizer.writer import Writing
from brido.utils.errors import ArgumentError, BridoError, close_to, parsing, quoted
from brido.utils.sections import checked

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
    check_folder(folder)
    usage = read_usage(folder)
    if usage is None:
        # Behind a prompt, half of the positions are for the summary.
        config, family = model_kind(folder)
        positions = family.positions(config) or 2 * LONGEST_SOURCE
        readable = positions // (1 if config.is_encoder_decoder else 2)
        reading = ReadingSettings(max_source_tokens=max(4, min(LONGEST_SOURCE, readable)))
        usage = Usage(reading=reading)
    return changed(usage, changes or {})


def changed(usage: Usage, changes: Mapping[str, Any]) -> Usage:
    """The usage with other values of keys of `reading` and `decoding`; None changes nothing.

    Raises:
        BridoError: a key is unknown, or a value does not fit.
    """
    raw = usage.model_dump()
    for key, value in changes.items():
        part = raw["reading" if key in ReadingSettings.model_fields else "decoding"]
        if key not in part:
            known = {**raw["reading"], **raw["decoding"]}
            raise BridoError(f"{key} is not a key of reading or decoding{close_to(key, known)}")
        if value is not None:
            part[key] = value.item() if isinstance(value, np.generic) else value
    return checked(Usage, raw, "the model cannot be used so:")


def check_folder(folder: Path) -> None:
    """Raise BridoError if there is no model in the folder."""
    if not folder.is_dir():
        raise BridoError(f"{folder} is no such folder, and a model is a folder (download it first)")
    with parsing(lambda reason: f"{folder} is not a model: {reason}"):
        check_place(folder)
    config = folder / "config.json"
    if not config.is_file() or not isinstance(read_object(config).get("model_type"), str):
        raise BridoError(f"{folder} is not a model: it has no config.json with `model_type`")


def writing_of(
    folder: Path,
    usage: Usage,
    guided: bool | None = None,
    candidates: int | None = None,
    checked: bool | None = None,
) -> Writing:
    """How summaries are written, with what a caller asks for.

    guided, checked: None is as the model's usage says. candidates: so many diverse beams vote, and
    nothing is checked.

    Raises:
        BridoError: these settings do not fit together, or one is not what it must be.
    """
    check_flag("guided", guided)
    check_flag("checked", checked)
    used = search_settings(folder, usage.decoding)
    if candidates is not None:
        # Numbers of NumPy, as counts of a table are, too.
        if checked or not isinstance(candidates, Integral) or candidates < 2:
            raise ArgumentError(
                f"candidates must be a whole number from 2, as a vote needs, not "
                f"{quoted(candidates)}; candidates that vote are not `checked`"
            )
        candidates = int(candidates)
        beams = {"num_beams": candidates, "num_beam_groups": candidates}
        used |= beams | {"diversity_penalty": DIVERSITY_PENALTY}
    guidance = usage.guidance
    if guided is not None:
        guidance = (usage.guidance or GuidanceSettings()) if guided else None
    search = SearchSettings(**used, num_return_sequences=candidates or 1, count_prompt=False)
    checks = usage.checked is not None if checked is None else checked
    settings = usage.checked or CheckedSettings()
    source = settings.source(usage.candidates, search.max_length)
    return Writing(
        search,
        guidance,
        candidates is not None,
        usage.lowercase,
        Checking(settings, source, search.length_penalty),
        checks and candidates is None,
    )


def check_flag(name: str, value: Any) -> None:
    """Raise ArgumentError if an argument is neither True, False nor None."""
    # As environments have it, as a text: "no" would be true.
    if value is not None and not isinstance(value, bool):
        raise ArgumentError(f"{name} must be True, False or None, not {quoted(value)}")
