"""The embedded BART: tokenizers that give texts back, and start values that copy."""

import pytest
import torch
from transformers import AutoTokenizer

from brido.corpus.settings import WorldSettings
from brido.models.embedded import BOS, EOS, build_model, learn_tokenizer, tokenizer_of
from brido.models.settings import EmbeddedSettings
from brido.utils.errors import BridoError
from brido.world import documents


@pytest.fixture(scope="module")
def pairs():
    return [(row["document"], row["summary"]) for row in documents(WorldSettings(), "train", 240)]


def train_tokenizer(texts, kind, size, longest):
    return tokenizer_of(learn_tokenizer(texts, kind, size), longest)


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


def test_cross_attention_starts_out_copying():
    torch.manual_seed(0)
    attention = (
        build_model(EmbeddedSettings(d_model=32, attention_heads=2), range(50))
        .model.decoder.layers[0]
        .encoder_attn
    )
    hidden = torch.randn(1, 5, 32)
    copied = attention.out_proj(attention.v_proj(hidden))
    assert torch.nn.functional.cosine_similarity(copied, hidden, dim=-1).min() > 0.7


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError(), RuntimeError("DefaultCPUAllocator: no")]
)
def test_memory_that_runs_out_is_one_sentence(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("transformers.BartForConditionalGeneration", fail)
    with pytest.raises(BridoError, match="the memory does not suffice: lower d_model"):
        build_model(EmbeddedSettings(), range(50))
