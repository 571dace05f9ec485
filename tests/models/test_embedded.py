"""The embedded BART: tokenizers that give texts back, a checkpoint like any other, learning."""

import json

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from brido.corpus.world import documents
from brido.errors import BridoError
from brido.models.corpus_tokenizer import BOS, EOS, PAD, train_tokenizer
from brido.models.embedded import _batches, build_model, train_embedded
from brido.settings import EmbeddedSettings, WorldSettings

SMALL = EmbeddedSettings(
    d_model=32, ffn_dim=32, attention_heads=2, encoder_layers=1, epochs=2, batch_size=8,
    learning_rate=5e-3, vocabulary_size=3000, max_source_tokens=128, max_summary_tokens=48,
)  # fmt: skip


@pytest.fixture(scope="module")
def pairs():
    return [(row["document"], row["summary"]) for row in documents(WorldSettings(), "train", 240)]


@pytest.fixture(scope="module")
def trained(pairs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    seen = []
    torch.set_num_threads(1)
    found = train_embedded(pairs, SMALL, folder, advance=lambda count, note: seen.append(count))
    assert sum(seen) == 2 * len(pairs)
    return folder, found


@pytest.mark.parametrize("kind", ["word", "bpe"])
def test_tokenizers_give_the_text_back(pairs, kind, tmp_path):
    texts = [text for pair in pairs for text in pair]
    train_tokenizer(texts, kind, 3000, 128).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) <= 3000
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        assert (ids[0], ids[-1]) == (BOS, EOS)
        assert tokenizer.unk_token_id not in ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
    assert (tokenizer.bos_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id) == (0, 1, 2)
    assert tokenizer.model_max_length == 128
    assert len(tokenizer("a b " * 200, truncation=True)["input_ids"]) == 128


def test_bpe_has_no_unknown_words(pairs):
    tokenizer = train_tokenizer([text for pair in pairs for text in pair], "bpe", 600, 64)
    text = "Zürich 東京 €5 (x)!"
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text


def test_a_word_is_one_token_and_so_is_its_full_stop(pairs):
    tokenizer = train_tokenizer([text for pair in pairs for text in pair], "word", 3000, 128)
    tokens = tokenizer.tokenize("It cost £40,000, said Keltech Foods.")
    assert tokens[2:4] == ["▁£40,000", ","]
    assert tokens[-1] == "."


def test_it_is_a_checkpoint_like_any_other(trained, pairs):
    folder, found = trained
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert model.config.model_type == "bart"
    assert model.config.vocab_size == len(tokenizer) == found["vocabulary"]
    settings = json.loads((folder / "generation_config.json").read_text())
    assert settings["decoder_start_token_id"] == EOS
    assert settings["forced_bos_token_id"] == BOS
    assert (settings["num_beams"], settings["max_length"]) == (SMALL.num_beams, 48)
    inputs = tokenizer([pairs[0][0]], return_tensors="pt")
    output = model.generate(input_ids=inputs["input_ids"], max_length=10)
    assert output[0, :2].tolist() == [EOS, BOS]


def test_training_learns(trained, pairs):
    _, found = trained
    assert (found["pairs"], found["steps"]) == (240, 60)
    # Guessing every token evenly costs log(vocabulary), about 7.1.
    assert found["loss"] < 5.6


def test_equal_seeds_make_equal_files(trained, pairs, tmp_path):
    folder, _ = trained
    train_embedded(pairs, SMALL, tmp_path)
    for name in ("model.safetensors", "tokenizer.json", "generation_config.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_cross_attention_starts_out_copying():
    torch.manual_seed(0)
    attention = build_model(SMALL, 50).model.decoder.layers[0].encoder_attn
    hidden = torch.randn(1, 5, SMALL.d_model)
    copied = attention.out_proj(attention.v_proj(hidden))
    assert torch.nn.functional.cosine_similarity(copied, hidden, dim=-1).min() > 0.7


def test_an_epoch_has_every_example_once():
    import random

    examples = [([0] * (index % 7 + 1), [index]) for index in range(101)]
    batches = list(_batches(examples, 8, random.Random(0)))
    assert sorted(summary[0] for batch in batches for _, summary in batch) == list(range(101))
    assert max(map(len, batches)) == 8
    assert PAD == 1


def test_bad_input_is_named(pairs, tmp_path):
    with pytest.raises(BridoError, match="empty"):
        train_embedded([], SMALL, tmp_path)
    uneven = SMALL.model_copy(update={"attention_heads": 3})
    with pytest.raises(BridoError, match=r"d_model \(32\) must be a multiple"):
        train_embedded(pairs, uneven, tmp_path)
