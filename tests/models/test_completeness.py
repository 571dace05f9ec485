"""Checkpoints of strangers whose files are not what they seem: one sentence, and nothing stored."""

import json
import os
import shutil

import pytest
import small_project
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM

from brido.models.checkpoint import store_checkpoint
from brido.utils.errors import BridoError


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good") / "model"
    small_project.write_checkpoint(folder)
    return folder


@pytest.fixture
def folder(good, tmp_path):
    return shutil.copytree(good, tmp_path / "theirs")


def state(folder, change):
    """Change the dictionary of the weights."""
    path = folder / "model.safetensors"
    found = load_file(path)
    change(found)
    save_file(found, path, {"format": "pt"})


def weights(folder, change):
    state(folder, lambda found: found.update({name: change(own) for name, own in found.items()}))


def settings(folder, file="config.json", **changes):
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def sharded(folder, named):
    (folder / "model.safetensors").rename(folder / "a.safetensors")
    where = dict.fromkeys(load_file(folder / "a.safetensors"), named)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": where})
    )


def outside(folder):
    sharded(folder, "../outside.safetensors")
    (folder / "a.safetensors").rename(folder.parent / "outside.safetensors")


def adapter(folder):
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    get_peft_model(model, LoraConfig(target_modules=["q_proj"])).save_pretrained(folder)


def pickled(folder):
    (folder / "model.safetensors").unlink()
    torch.save({"x": os.system}, folder / "pytorch_model.bin")


def without_a_shard(folder):
    AutoModelForSeq2SeqLM.from_pretrained(folder).save_pretrained(folder, max_shard_size="4KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    sorted(folder.glob("model-*.safetensors"))[2].unlink()


def cut_off(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])


LAYER, NORM = "model.encoder.layers.0.fc2.weight", "model.encoder.layernorm_embedding.weight"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
CASES = {
    "a pointer": (lambda f: (f / "model.safetensors").write_text(POINTER), "git lfs pull"),
    "out of the folder": (outside, "../outside.safetensors"),
    "8 bits": (lambda f: weights(f, lambda t: t.to(torch.int8)), "type I8"),
    "8 bits with their scale": (
        lambda f: settings(f, quantization_config={"quant_method": "fp8"}),
        "quantized (fp8)",
    ),
    "a kernel": (lambda f: settings(f, _attn_implementation="evil/kernel"), "evil/kernel"),
    "an adapter alone": (lambda f: adapter(f) or (f / "config.json").unlink(), "NAME.adapter"),
    "an adapter too": (adapter, "NAME.adapter"),
    "NaN": (lambda f: state(f, lambda own: own[LAYER].fill_(torch.nan)), f"infinite: {LAYER}"),
    "NaN in a buffer": (
        lambda f: state(f, lambda own: own["final_logits_bias"].fill_(torch.nan)),
        "1 weights are NaN or infinite: final_logits_bias",
    ),
    "a weight less": (
        lambda f: state(f, lambda own: own.pop(LAYER)),
        f"1 weights are missing from the file, such as {LAYER}",
    ),
    # It is learned, although it begins at one.
    "a norm less": (lambda f: state(f, lambda own: own.pop(NORM)), f"such as {NORM}"),
    "another shape": (
        lambda f: state(f, lambda own: own.update({LAYER: torch.zeros(3, 16)})),
        "1 weights are of another shape in the file",
    ),
    "fewer layers": (
        lambda f: settings(f, encoder_layers=0),
        "weights of the file belong to none of the model's layers",
    ),
    "an end that is no token": (
        lambda f: settings(f, "generation_config.json", eos_token_id=[2, 10**6]),
        "eos_token_id",
    ),
    "no model": (lambda f: shutil.rmtree(f) or f.mkdir(), "cannot be loaded as a model with its"),
    "a file of weights less": (without_a_shard, "are missing, such as model-00003-of-"),
    "half a file": (cut_off, "model.safetensors is damaged or cut off"),
    "a pickle": (pickled, "other things than weights"),
}


@pytest.mark.parametrize(("change", "said"), CASES.values(), ids=CASES)
def test_files_that_are_not_what_they_seem(folder, tmp_path, change, said):
    change(folder)
    with pytest.raises(BridoError, match="checkpoints.base|theirs") as error:
        store_checkpoint(str(folder), None, tmp_path / "stored", "checkpoints.base")
    assert said in str(error.value)
    assert "weights_only" not in str(error.value)
    assert not (tmp_path / "stored").exists()
