"""How a checkpoint wants to be searched: the settings that it comes with."""

from collections.abc import Mapping
from typing import Any

from brido.search.settings import BeamSettings

# What a search for one summary is told; transformers' own defaults stand there.
_FIELDS = {
    name: field.default
    for name, field in BeamSettings.model_fields.items()
    if name not in {"num_beam_groups", "diversity_penalty"}
}
# The names of the same without the start token or prompt, which are heard first.
_LENGTHS = {"min_length": "min_new_tokens", "max_length": "max_new_tokens"}


def own_search(
    generation_config: Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    behind_prompts: bool = False,
) -> dict[str, Any]:
    """The keys of `SearchSettings` for one summary a document.

    Each is taken from `overrides` where it is not null there, else from the checkpoint's
    generation_config (as generation_config.json has it; other keys are passed over), else from
    transformers' defaults. As in transformers, a checkpoint's max_new_tokens goes before its
    max_length, and min_new_tokens before min_length. Of a model that writes `behind_prompts` (a
    decoder-only one) they alone are heard: its other lengths count the prompt too.
    """
    checkpoint = dict(generation_config)
    for name, new_tokens in _LENGTHS.items():
        if behind_prompts:
            checkpoint[name] = checkpoint.get(new_tokens)
        elif checkpoint.get(new_tokens) is not None:
            checkpoint[name] = checkpoint[new_tokens] + 1
    chosen = dict(_FIELDS)
    for source in (checkpoint, overrides or {}):
        chosen |= {name: source[name] for name in _FIELDS if source.get(name) is not None}
    return chosen


def says_length(generation_config: Mapping[str, Any], behind_prompts: bool = False) -> bool:
    """Whether a checkpoint says how long a summary may be."""
    names = [_LENGTHS["max_length"]] if behind_prompts else ["max_length", _LENGTHS["max_length"]]
    return any(generation_config.get(name) is not None for name in names)
