"""Adapters: what they train, what they leave alone, and what is written."""

from pathlib import Path

import pytest
import torch
from peft import PeftModel
from tiny_models import build_model

from brido.models.lora import Adapter
from brido.models.settings import LoraSettings

LORA = LoraSettings(rank=2, alpha=4.0)


def adapted(family: str, settings: LoraSettings = LORA) -> tuple[torch.nn.Module, Adapter]:
    model = build_model(family, seed=0)
    return model, Adapter(model, settings, seed=0)


def logits(model: torch.nn.Module) -> torch.Tensor:
    ids = torch.arange(5, 17).view(2, 6)
    inputs = {"decoder_input_ids": ids[:, :3]} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        return model.eval()(input_ids=ids, **inputs).logits


def shake(model: torch.nn.Module) -> None:
    """Change the weights that train."""
    torch.manual_seed(1)
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data += 0.1 * torch.randn_like(weight)


@pytest.mark.parametrize("family", ["bart", "pegasus", "t5"])
def test_it_changes_nothing_then_trains_alone_and_merges(family: str, tmp_path: Path) -> None:
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


def test_equal_seeds_write_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        torch.manual_seed(ord(name[0]))
        adapted("bart")[1].save(tmp_path / name)
    files = {file.name for file in (tmp_path / "one").iterdir()}
    assert files == {"adapter_config.json", "adapter_model.safetensors"}
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
