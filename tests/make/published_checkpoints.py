"""What the repositories of the checkpoints that presets name hold, as far as loading depends on it.

The test hub imitates these files, not what `save_pretrained` of today writes. Nothing here was
downloaded: `seen` says which public text states a fact, `taken` what stands in no text that was
found and follows from the program that wrote the files.
"""

from dataclasses import dataclass
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
    seen: str
    taken: str
    weights: tuple[str, ...] = ("pytorch_model.bin",)
    without: tuple[str, ...] = ()
    dtype: str = "float32"


BRIO_OF_2022 = (
    "save_pretrained of transformers 4.9 to 4.18 wrote one pickled state dict with every tied "
    "tensor, left out PEGASUS's positions (`_keys_to_ignore_on_save`), and knew no "
    "generation_config.json"
)

PUBLISHED = {
    "google/pegasus-xsum": Published(
        without=("lm_head.weight", *_SINUSOIDS),
        tokenizer=("spiece.model", "tokenizer_config.json", "special_tokens_map.json"),
        own_generation=True,
        generation=PEGASUS_GENERATION,
        config=_OLD_PEGASUS,
        seen="huggingface/transformers issue 13164 lists the keys: final_logits_bias and no "
        "lm_head; pull request 36844: the positions come from the initialisation; pull request "
        "6340: the files, tokenizer_config.json holds the longest source; a copy of config.json in "
        "a public repository",
        taken="the copies of the embeddings, which torch.save of 2020 writes",
    ),
    "facebook/bart-large-cnn": Published(
        weights=("model.safetensors",),
        without=("lm_head.weight", "model.shared.weight", "model.encoder.embed_tokens.weight"),
        tokenizer=("vocab.json", "merges.txt", "tokenizer.json"),
        own_generation=True,
        generation=BART_GENERATION,
        config=_OLD_BART,
        seen="huggingface/transformers pull request 36572: the file has "
        "model.decoder.embed_tokens.weight alone of the tied tensors; keras-team/keras-hub issue "
        "3003: no shared.weight; huggingface/transformers issue 3108: no embedding of <mask>",
        taken="final_logits_bias is there, as in the pickled file that it was converted from; no "
        "tokenizer_config.json",
    ),
    "Yale-LILY/brio-xsum-cased": Published(
        without=_SINUSOIDS,
        tokenizer=("spiece.model", "tokenizer_config.json", "special_tokens_map.json"),
        own_generation=False,
        generation=PEGASUS_GENERATION,
        config=_OLD_PEGASUS,
        seen="yixinL7/BRIO's examples/hf.py: PegasusForConditionalGeneration with its tokenizer, "
        "512 source tokens, and `generate` without settings",
        taken=BRIO_OF_2022,
    ),
    "Yale-LILY/brio-cnndm-uncased": Published(
        tokenizer=("vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"),
        own_generation=False,
        generation=BART_GENERATION,
        config=_OLD_BART,
        seen="yixinL7/BRIO's examples/hf.py: BartForConditionalGeneration with its tokenizer, 1024 "
        "source tokens, lower-cased, and `generate` without settings; issue 2: 50264 embeddings of "
        "50265 tokens",
        taken=BRIO_OF_2022,
    ),
    "Qwen/Qwen3-1.7B": Published(
        weights=("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"),
        tokenizer=("tokenizer.json", "tokenizer_config.json"),
        own_generation=True,
        generation={"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95},
        dtype="bfloat16",
        config={"tie_word_embeddings": True},
        seen="huggingface/candle pull request 2930: an output layer is read from the file although "
        "the settings tie it, with the same numbers",
        taken="the second shard holds the output layer; the chat template stands in "
        "tokenizer_config.json; vocab.json and merges.txt beside tokenizer.json are not needed",
    ),
}
