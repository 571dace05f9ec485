"""The name under which models of transformers take keys and values read before."""

from dataclasses import fields

from transformers.modeling_outputs import BaseModelOutputWithPast

# `past_key_values` until transformers 5.23, and no more from 5.40 on.
CACHE = next(
    field.name
    for field in fields(BaseModelOutputWithPast)
    if field.name in ("cache", "past_key_values")
)
