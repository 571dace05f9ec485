"""Tiny repositories for the loopback hub: shaped like the real ones, small enough for a test.

XSum and CNN/DM have the real layouts, columns and revisions. The models have random weights but
real tokenizer files, trained here: BART's byte-level BPE and PEGASUS's sentencepiece. As on the
hub, some hold safetensors and a generation_config, others only pytorch_model.bin and generation
settings inside config.json.
"""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sentencepiece
import torch
from loopback_hub import LoopbackHub
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    MBartConfig,
    MBartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from brido import world
from brido.corpus.settings import WorldSettings

ROWS = {"train": 32, "validation": 8, "test": 8}
_SIZES: dict[str, Any] = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "init_std": 0.5,
}
_BART_IDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
# facebook/bart-large-cnn's own generation settings.
BART_GENERATION = {
    **_BART_IDS,
    "decoder_start_token_id": 2,
    "forced_bos_token_id": 0,
    "forced_eos_token_id": 2,
    "early_stopping": True,
    "length_penalty": 2.0,
    "max_length": 142,
    "min_length": 56,
    "no_repeat_ngram_size": 3,
    "num_beams": 4,
}
# google/pegasus-xsum's own generation settings.
PEGASUS_GENERATION = {
    "bos_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "forced_eos_token_id": 1,
    "length_penalty": 0.6,
    "max_length": 64,
    "num_beams": 8,
}


def texts() -> list[tuple[str, str]]:
    """(document, summary) pairs enough for all splits of both data sets."""
    rows = world.documents(WorldSettings(), "train", sum(ROWS.values()))
    return [(row["document"], row["summary"]) for row in rows]


def fill(hub: LoopbackHub, folder: Path) -> None:
    """Write all repositories below `folder` and serve them."""
    hub.add("datasets", "EdinburghNLP/xsum", _xsum(folder / "xsum"), "refs/convert/parquet")
    hub.add("datasets", "abisee/cnn_dailymail", _cnndm(folder / "cnndm"))
    for number, (name, make, modern) in enumerate(
        [
            ("facebook/bart-large-cnn", _bart, True),
            ("Yale-LILY/brio-cnndm-uncased", _bart, False),
            ("google/pegasus-xsum", _pegasus, True),
            ("Yale-LILY/brio-xsum-cased", _pegasus, False),
        ]
    ):
        torch.manual_seed(number)
        hub.add("models", name, make(folder / name, modern))


def _columns(split: str, summary_of: Any) -> tuple[list[str], list[str], list[str]]:
    start = sum(count for name, count in ROWS.items() if name < split)
    pairs = texts()[start : start + ROWS[split]]
    ids = [f"{split}{number}" for number in range(len(pairs))]
    return [document for document, _ in pairs], [summary_of(text) for _, text in pairs], ids


def _xsum(folder: Path) -> Path:
    for split in ROWS:
        documents, summaries, ids = _columns(split, lambda text: text)
        (folder / "default" / split).mkdir(parents=True)
        table = pa.table({"document": documents, "summary": summaries, "id": ids})
        pq.write_table(table, folder / "default" / split / "0000.parquet")
    return folder


def _cnndm(folder: Path) -> Path:
    configs = []
    for config in ("1.0.0", "3.0.0"):
        (folder / config).mkdir(parents=True)
        lines = [f"- config_name: {config}", "  data_files:"]
        for split in ROWS:
            articles, highlights, ids = _columns(split, lambda text: f"{text[:-1]} .\nAnd more .")
            table = pa.table({"article": articles, "highlights": highlights, "id": ids})
            pq.write_table(table, folder / config / f"{split}-00000-of-00001.parquet")
            lines += [f"  - split: {split}", f"    path: {config}/{split}-*"]
        configs += lines
    card = "\n".join(["---", "configs:", *configs, "---", "# News", ""])
    (folder / "README.md").write_text(card)
    return folder


def _bart(folder: Path, modern: bool) -> Path:
    folder.mkdir(parents=True)
    tokenizer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(
        (text for pair in texts() for text in pair),
        vocab_size=400,
        special_tokens=special,
        show_progress=False,
    )
    tokenizer.save_model(str(folder))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1024}')
    config = BartConfig(
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=1024,
        decoder_start_token_id=2,
        **_BART_IDS,
        **_SIZES,
    )
    _save(BartForConditionalGeneration(config), folder, modern, BART_GENERATION)
    return folder


def _sentencepiece(path: Path, **ids: int) -> None:
    """A sentencepiece model of 300 entries trained on the texts."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(text for pair in texts() for text in pair),
        model_writer=model,
        vocab_size=300,
        model_type="unigram",
        minloglevel=2,
        **ids,
    )
    path.write_bytes(model.getvalue())


def _pegasus(folder: Path, modern: bool) -> Path:
    folder.mkdir(parents=True)
    _sentencepiece(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    settings = {"model_max_length": 512, "tokenizer_class": "PegasusTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    # PEGASUS keeps 103 ids for its own masks and unused tokens in front of sentencepiece's.
    config = PegasusConfig(
        vocab_size=403,
        max_position_embeddings=512,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        **_SIZES,
    )
    _save(PegasusForConditionalGeneration(config), folder, modern, PEGASUS_GENERATION)
    return folder


def t5(folder: Path) -> Path:
    """A T5 as published ones are: sentencepiece, tied embeddings, the pad token begins."""
    folder.mkdir(parents=True)
    _sentencepiece(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    settings = {"model_max_length": 512, "tokenizer_class": "T5Tokenizer", "extra_ids": 100}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = T5Config(
        vocab_size=400, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    generation = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    _save(T5ForConditionalGeneration(config), folder, True, generation)
    return folder


def mbart(folder: Path) -> Path:
    """An mBART-50 tuned for English: a language code begins every text, the end token decoding."""
    folder.mkdir(parents=True)
    _sentencepiece(folder / "sentencepiece.bpe.model", unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    settings = {
        "model_max_length": 512, "tokenizer_class": "MBart50Tokenizer",
        "src_lang": "en_XX", "tgt_lang": "en_XX",
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    english = tokenizer.convert_tokens_to_ids("en_XX")
    config = MBartConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        decoder_start_token_id=2,
        **_BART_IDS,
        **_SIZES,
    )
    generation = _BART_IDS | {"decoder_start_token_id": 2, "forced_bos_token_id": english}
    _save(MBartForConditionalGeneration(config), folder, True, generation)
    return folder


def _save(model: PreTrainedModel, folder: Path, modern: bool, generation: dict[str, Any]) -> None:
    """Weights and settings as new repositories hold them, or as those of 2022 do."""
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    if modern:
        (folder / "generation_config.json").write_text(json.dumps(generation))
        return
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **generation}))
