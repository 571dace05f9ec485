"""Group (diverse) beam search for `model.generate` of transformers 5, which no longer has it.

    model.generate(
        **tokens, custom_generate="examples/group_beam_search", trust_remote_code=True,
        num_beams=16, num_beam_groups=16, diversity_penalty=1.0, num_return_sequences=16,
    )

The folder is read from disk, without a network; pushed to a hub it works from there. The search is
`brido.search.diverse_beam_search`: the tokens of transformers 4.55.4.
"""

from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.generation import GenerateBeamEncoderDecoderOutput

from brido.search import SearchSettings, diverse_beam_search
from brido.search.own_search import own_search
from brido.utils.errors import ArgumentError

# Of generate's arguments those that say how the search works.
_OWN = ("num_beam_groups", "diversity_penalty", "num_return_sequences")
_SETTINGS = {*SearchSettings.model_fields, "max_new_tokens", "min_new_tokens"}
# These change nothing here.
_WITHOUT_EFFECT = {"use_cache", "output_scores", "synced_gpus", "do_sample", "negative_prompt_ids"}
_WITHOUT_EFFECT |= {"negative_prompt_attention_mask", "token_type_ids", "return_dict_in_generate"}


@torch.no_grad()
def generate(
    model: PreTrainedModel,
    inputs: torch.Tensor | None = None,
    generation_config: Any = None,
    input_ids: torch.Tensor | None = None,
    attention_mask: torch.Tensor | None = None,
    **given: Any,
) -> Any:
    """The sequences [B * num_return_sequences, T] of a group beam search, best first.

    A decoder-only model's begin with the prompt, as `generate` returns them. With
    return_dict_in_generate also `sequences_scores`.

    Raises:
        ArgumentError: an argument of `generate` that this search does not know, or settings that do
            not fit together.
    """
    ids = inputs if input_ids is None else input_ids
    known = {name: value for name, value in given.items() if value is not None}
    unknown = sorted(known.keys() - _SETTINGS - _WITHOUT_EFFECT)
    if ids is None or unknown or known.get("do_sample"):
        problem = ", ".join(unknown) or ("input_ids" if ids is None else "do_sample")
        raise ArgumentError(f"group beam search does not work with these arguments: {problem}")
    mask = torch.ones_like(ids) if attention_mask is None else attention_mask
    behind_prompts = not model.config.is_encoder_decoder
    config = (generation_config or model.generation_config).to_dict()
    # What is given to `generate` goes before the configuration, new tokens before lengths.
    for name in ("max", "min"):
        new_tokens = known.pop(f"{name}_new_tokens", None)
        if new_tokens is not None:
            known[f"{name}_length"] = new_tokens if behind_prompts else new_tokens + 1
        elif behind_prompts and f"{name}_length" in known:
            known[f"{name}_length"] = max(known[f"{name}_length"] - ids.shape[1], 0)
    search = own_search(config, known, behind_prompts)
    search |= {name: known[name] for name in _OWN if name in known}
    search.setdefault("num_return_sequences", 1)
    found = diverse_beam_search(model, ids, mask, SearchSettings(**search))
    count = found.sequences.shape[1]
    sequences = found.sequences.flatten(0, 1)
    if behind_prompts:
        sequences = torch.cat([ids.repeat_interleave(count, 0), sequences], 1)
    if not given.get("return_dict_in_generate"):
        return sequences
    scores = found.scores.flatten()
    return GenerateBeamEncoderDecoderOutput(sequences=sequences, sequences_scores=scores)
