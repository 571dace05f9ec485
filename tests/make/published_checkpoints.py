"""What the repositories of the checkpoints that presets name hold, as far as loading depends on it.

The test hub imitates these files, not what `save_pretrained` of today writes. Nothing was
downloaded: huggingface/transformers issues 3108 and 13164, pull requests 6340, 36572 and 36844, and
yixinL7/BRIO's examples/hf.py state the facts; the rest follows from the programs that wrote them.
"""

from dataclasses import dataclass, replace
from typing import Any

_BART_SEARCH = {
    "early_stopping": True, "length_penalty": 2.0, "max_length": 142, "min_length": 56,
    "no_repeat_ngram_size": 3, "num_beams": 4,
}  # fmt: skip
_BART_IDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
BART_GENERATION = {
    **_BART_IDS, **_BART_SEARCH, "forced_bos_token_id": 0, "forced_eos_token_id": 2,
}  # fmt: skip
PEGASUS_GENERATION = {
    "bos_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
    "forced_eos_token_id": 1, "length_penalty": 0.6, "max_length": 64, "num_beams": 8,
}  # fmt: skip
# What configurations of 2020 say, and transformers has forgotten since.
_OLD_BART = {
    "add_bias_logits": False, "add_final_layer_norm": False, "classif_dropout": 0.0,
    "normalize_before": False, "normalize_embedding": True, "output_past": True, "prefix": " ",
    "task_specific_params": {"summarization": _BART_SEARCH},
}  # fmt: skip
_OLD_PEGASUS = {
    "activation_function": "relu", "add_bias_logits": False, "add_final_layer_norm": True,
    "classif_dropout": 0.0, "extra_pos_embeddings": 1, "force_bos_token_to_be_generated": False,
    "normalize_before": True, "normalize_embedding": False, "scale_embedding": True,
    "static_position_embeddings": True,
}  # fmt: skip
_SINUSOIDS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")


@dataclass(frozen=True)
class Published:
    """One repository.

    weights: the files of weights, several for shards. without: tensors that a state dict of today
    has and these files lack. tokenizer: the files of the tokenizer. own_generation: whether there
    is a generation_config.json; without it the settings stand in config.json. config: settings
    beside the sizes.
    """

    tokenizer: tuple[str, ...]
    own_generation: bool
    generation: dict[str, Any]
    config: dict[str, Any]
    weights: tuple[str, ...] = ("pytorch_model.bin",)
    without: tuple[str, ...] = ()
    dtype: str = "float32"


_PEGASUS = Published(
    without=("lm_head.weight", *_SINUSOIDS),
    tokenizer=("spiece.model", "tokenizer_config.json", "special_tokens_map.json"),
    own_generation=True,
    generation=PEGASUS_GENERATION,
    config=_OLD_PEGASUS,
)
PUBLISHED = {
    "google/pegasus-xsum": _PEGASUS,
    "facebook/bart-large-cnn": Published(
        weights=("model.safetensors",),
        without=("lm_head.weight", "model.shared.weight", "model.encoder.embed_tokens.weight"),
        tokenizer=("vocab.json", "merges.txt", "tokenizer.json"),
        own_generation=True,
        generation=BART_GENERATION,
        config=_OLD_BART,
    ),
    "Yale-LILY/brio-xsum-cased": replace(_PEGASUS, without=_SINUSOIDS, own_generation=False),
    "Yale-LILY/brio-cnndm-uncased": Published(
        tokenizer=("vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"),
        own_generation=False,
        generation=BART_GENERATION,
        config=_OLD_BART,
    ),
    "Qwen/Qwen3-1.7B": Published(
        weights=("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"),
        tokenizer=("tokenizer.json", "tokenizer_config.json"),
        own_generation=True,
        generation={"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95},
        dtype="bfloat16",
        config={"tie_word_embeddings": True},
    ),
}
