"""Adapters: what they train, what they leave alone, and what is written."""

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from tiny_models import build_model
from transformers import LlamaConfig, LlamaForCausalLM

from brido.models.lora import Adapter, merge_adapter
from brido.models.settings import LoraSettings
from brido.utils.errors import BridoError

LORA = LoraSettings(rank=2, alpha=4.0)


def adapted(family, settings=LORA):
    model = build_model(family, seed=0)
    return model, Adapter(model, settings, seed=0)


def logits(model):
    ids = torch.arange(5, 17).view(2, 6)
    inputs = {"decoder_input_ids": ids[:, :3]} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        return model.eval()(input_ids=ids, **inputs).logits


def shake(model):
    """Change the weights that train."""
    torch.manual_seed(1)
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data += 0.1 * torch.randn_like(weight)


@pytest.mark.parametrize("family", ["bart", "pegasus", "t5"])
def test_it_changes_nothing_then_trains_alone_and_merges(family, tmp_path):
    plain = build_model(family, seed=0)
    model, adapter = adapted(family)
    torch.testing.assert_close(logits(model), logits(plain), rtol=0, atol=0)
    trained = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert trained
    assert all("lora_" in name for name in trained)
    assert not any("lm_head" in name for name in trained)
    shake(model)
    expected = logits(model)
    assert not torch.equal(expected, logits(plain))
    adapter.save(tmp_path / "adapter")
    adapter.merge()
    torch.testing.assert_close(logits(model), expected, rtol=1e-4, atol=1e-5)
    assert model.state_dict().keys() == plain.state_dict().keys()
    loaded = PeftModel.from_pretrained(build_model(family, seed=0), tmp_path / "adapter")
    torch.testing.assert_close(logits(loaded.base_model.model), expected, rtol=1e-5, atol=1e-6)


def stored_llama(tokens=64, tied=False):
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": tokens}
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**sizes, **heads, tie_word_embeddings=tied))


def written_adapter(folder, base, **settings):
    """An adapter as PEFT writes it, its weights drawn at random; the adapted model."""
    adapted = get_peft_model(base, LoraConfig(**{"r": 2} | settings))
    for name, weight in adapted.named_parameters():
        if "lora_" in name or "modules_to_save" in name:
            weight.data.normal_(0, 0.3)
    brings = settings == SAVED or "auto"
    adapted.save_pretrained(str(folder), save_embedding_layers=brings)
    return adapted


SAVED = {"target_modules": ["q_proj"]}


@pytest.mark.parametrize("changed", ["embed_tokens", "lm_head"])
def test_a_change_of_one_of_two_that_share_their_weights_is_refused(changed, tmp_path):
    settings = {"target_modules": ["q_proj", changed]}
    written_adapter(tmp_path, stored_llama(tied=True), **settings)
    with pytest.raises(BridoError, match="embeddings and output layer share"):
        merge_adapter(stored_llama(tied=True), tmp_path, "key")
    # Alone it is merged.
    expected = logits(written_adapter(tmp_path / "untied", stored_llama(), **settings))
    merged = merge_adapter(stored_llama(), tmp_path / "untied", "key")
    torch.testing.assert_close(logits(merged), expected)
