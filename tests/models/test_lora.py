"""Adapters: what they train, what they leave alone, and what is written."""

import pytest
import torch
from peft import PeftModel
from tiny_models import build_model

from brido.models.lora import Adapter
from brido.models.settings import LoraSettings

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
