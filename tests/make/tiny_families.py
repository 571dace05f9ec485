"""A tiny random model of every family that `brido` has no test model of its own for."""

import torch
import transformers

PAD, BOS, EOS = 1, 0, 2
VOCABULARY = 64
_TOKENS = {"pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS}
_BART = {
    "vocab_size": VOCABULARY, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16, "dropout": 0.0, "decoder_start_token_id": EOS, **_TOKENS,
}  # fmt: skip
_T5 = {
    "vocab_size": VOCABULARY, "d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2,
    "num_decoder_layers": 2, "num_heads": 2, "dropout_rate": 0.0, "decoder_start_token_id": PAD,
    **_TOKENS,
}  # fmt: skip
_EXPERTS = {"num_experts": 4, "encoder_sparse_step": 1, "decoder_sparse_step": 1}
_WORDS = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_attention_heads": 2, **_TOKENS}
_LAYERS = {"num_hidden_layers": 2}
_LED = {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 24}
# model_type: the prefix of its class names, that of its model, its settings.
FAMILIES = {
    "led": ("LED", "ForConditionalGeneration", _BART | _LED | {"attention_window": 4}),
    "longt5": ("LongT5", "ForConditionalGeneration", _T5 | {"local_radius": 4}),
    "m2m_100": ("M2M100", "ForConditionalGeneration", _BART),
    "mt5": ("MT5", "ForConditionalGeneration", _T5),
    "pegasus_x": ("PegasusX", "ForConditionalGeneration", _BART),
    "switch_transformers": ("SwitchTransformers", "ForConditionalGeneration", _T5 | _EXPERTS),
    "gpt_neox": ("GPTNeoX", "ForCausalLM", _WORDS | _LAYERS | {"intermediate_size": 16}),
}  # fmt: skip


def build_family(model_type: str, **changes: object) -> transformers.PreTrainedModel:
    """A random model in evaluation mode, in float64."""
    prefix, suffix, settings = FAMILIES[model_type]
    torch.manual_seed(0)
    config = getattr(transformers, f"{prefix}Config")(**settings | changes)
    model = getattr(transformers, prefix + suffix)(config).eval()
    for name, weight in model.named_parameters():
        if weight.requires_grad and "norm" not in name.lower() and "embed_positions" not in name:
            weight.data.normal_(0, 0.3)
    settings = model.generation_config
    for name in ("forced_bos_token_id", "forced_eos_token_id"):
        setattr(settings, name, None)
    settings.pad_token_id, settings.eos_token_id = config.pad_token_id, EOS
    return model.double()


def sources() -> tuple[torch.Tensor, torch.Tensor]:
    """Random source ids and their mask [2, 16], the last one padded on the right."""
    ids = torch.randint(4, 60, (2, 16), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[-1, 10:] = 0
    return ids.masked_fill(mask == 0, PAD), mask
