"""MiniCheck's published repositories imitated, and folders that are none."""

import json

import pytest
import tiny_minichecks
import torch
from published_checkers import MINICHECK
from safetensors.torch import load_file, save_file

from brido.checkers.minicheck import MiniCheck
from brido.utils.errors import BridoError

DOCUMENT = "W0 w1 w2. W1 w7 w9 w3. W2 w5 w6 w8 w4."
CLAIM = "W1 w7 w3."
CASES = [
    (kind, file, zipped)
    for kind, published in MINICHECK.items()
    for file in published.weights
    for zipped in ((True, False) if file.endswith(".bin") else (True,))
]


def probability(folder):
    """What the model of a folder says, in float32."""
    checker = MiniCheck.load(str(folder), device="cpu")
    return checker.sentences([DOCUMENT], [CLAIM])[0][0].probability


def plain(kind, folder):
    """A tiny model of the published one's structure."""
    names = ("tie_word_embeddings", "position_buckets", "norm_rel_ebd", "share_att_key")
    settings = MINICHECK[kind].config
    return tiny_minichecks.save(kind, folder, **{n: settings[n] for n in names if n in settings})


def rewrite(path, changes):
    held = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(held | changes))


def imitate(kind, folder, file, zipped):
    """A folder as its authors uploaded it: table MINICHECK."""
    published = MINICHECK[kind]
    plain(kind, folder)
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    if file.endswith(".bin"):
        for name in published.extra:
            positions = torch.arange(32)[None]
            state[name] = state["shared.weight"] if "embed_tokens" in name else positions
        torch.save(state, folder / file, _use_new_zipfile_serialization=zipped)
    else:
        save_file(state, folder / file, {"format": "pt"})
    rewrite(folder / "config.json", published.config)
    rewrite(folder / "tokenizer_config.json", published.tokenizer)
    named = {"eos_token": tiny_minichecks.tokenizer(kind).eos_token}
    contents = {"special_tokens_map.json": named, "added_tokens.json": {}}
    contents["generation_config.json"] = {"decoder_start_token_id": 0, "eos_token_id": 1}
    for name in {*published.files} & {*contents}:
        (folder / name).write_text(json.dumps(contents[name]))
    for path in folder.iterdir():
        if path.name not in (*published.files, file):
            path.unlink()
    return folder


@pytest.mark.parametrize(("kind", "file", "zipped"), CASES)
def test_a_published_repository_says_what_its_model_says(tmp_path, kind, file, zipped):
    theirs = imitate(kind, tmp_path / "theirs", file, zipped)
    assert probability(theirs) == pytest.approx(probability(plain(kind, tmp_path / "plain")))


def cut(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:300])


def no_settings(folder):
    (folder / "config.json").write_text("[]")


def no_tokenizer(folder):
    (folder / "tokenizer.json").write_text("{")


@pytest.mark.parametrize("damage", [cut, no_settings, no_tokenizer])
def test_a_damaged_folder_is_one_sentence(tmp_path, damage):
    folder = plain("roberta", tmp_path / "folder")
    damage(folder)
    with pytest.raises(BridoError, match="folder"):
        probability(folder)
