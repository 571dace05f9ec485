"""Tiny repositories for the loopback hub: shaped like the real ones, small enough for a test.

XSum and CNN/DM have the real layouts, columns and revisions. The models have random weights but
real tokenizer files, trained here: BART's byte-level BPE and PEGASUS's sentencepiece. Which
tensors, files and settings they have stands in published_checkpoints.py.
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
from published_checkpoints import PUBLISHED, Published
from safetensors.torch import save_file
from tiny_chat import END, TEXT_END, THINKING, chat_tokenizer
from tokenizers import ByteLevelBPETokenizer
from tokenizers.processors import RobertaProcessing
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
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


def texts() -> list[tuple[str, str]]:
    """(document, summary) pairs enough for all splits of both data sets."""
    rows = world.documents(WorldSettings(), "train", sum(ROWS.values()))
    return [(row["document"], row["summary"]) for row in rows]


def fill(hub: LoopbackHub, folder: Path) -> None:
    """Write all repositories below `folder` and serve them."""
    hub.add("datasets", "EdinburghNLP/xsum", _xsum(folder / "xsum"), "refs/convert/parquet")
    hub.add("datasets", "abisee/cnn_dailymail", _cnndm(folder / "cnndm"))
    makers = {"bart": _bart, "pegasus": _pegasus, "xsum": _pegasus, "cnndm": _bart, "Qwen3": _qwen}
    for number, (name, published) in enumerate(PUBLISHED.items()):
        torch.manual_seed(number)
        (make,) = {make for part, make in makers.items() if part in name}
        hub.add("models", name, publish(make(folder / name), folder / name, published))


def publish(model: PreTrainedModel, folder: Path, published: Published) -> Path:
    """Write a model beside its tokenizer's files as the repository holds them."""
    dtype = getattr(torch, published.dtype)
    weights = {
        name: tensor.to(dtype).clone()
        for name, tensor in model.state_dict().items()
        if name not in published.without
    }
    config = model.config.to_dict() | published.config | {"torch_dtype": published.dtype}
    for today in ("dtype", "transformers_version", "_name_or_path"):
        config.pop(today, None)
    if published.own_generation:
        (folder / "generation_config.json").write_text(json.dumps(published.generation))
    else:
        config |= published.generation
    (folder / "config.json").write_text(json.dumps(config))
    if published.weights == ("pytorch_model.bin",):
        torch.save(weights, folder / "pytorch_model.bin")
    elif len(published.weights) == 1:
        save_file(weights, folder / published.weights[0], {"format": "pt"})
    else:
        _save_shards(weights, folder, published.weights)
    for file in published.tokenizer:
        if file == "special_tokens_map.json" and not (folder / file).exists():
            names = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
            (folder / file).write_text(json.dumps(names))
    held = {file.name for file in folder.iterdir()}
    for file in held - {*published.weights, *published.tokenizer}:
        if not file.endswith((".index.json", "config.json")) or file == "tokenizer_config.json":
            (folder / file).unlink()
    return folder


def _save_shards(weights: dict[str, torch.Tensor], folder: Path, files: tuple[str, ...]) -> None:
    """Everything in the first file, the output layer in the last, and the index."""
    where = {name: files[-1 if name == "lm_head.weight" else 0] for name in weights}
    for file in files:
        part = {name: tensor for name, tensor in weights.items() if where[name] == file}
        save_file(part, folder / file, {"format": "pt"})
    size = sum(tensor.numel() * tensor.element_size() for tensor in weights.values())
    index = {"metadata": {"total_size": size}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


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


def _qwen(folder: Path) -> PreTrainedModel:
    folder.mkdir(parents=True)
    tokenizer = chat_tokenizer(THINKING)
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["chat_template"] = THINKING  # its own file has one only since
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    ends = {"bos_token_id": END, "pad_token_id": TEXT_END, "eos_token_id": [END, TEXT_END]}
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=256,
        tie_word_embeddings=True, **ends,
    )  # fmt: skip
    return Qwen3ForCausalLM(config)


def _bart(folder: Path) -> PreTrainedModel:
    folder.mkdir(parents=True)
    tokenizer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
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
    # The last token, and none of BART's summarizers has an embedding of it.
    tokenizer.add_special_tokens(["<mask>"])
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.save(str(folder / "tokenizer.json"))
    return _with_bias(BartForConditionalGeneration(config))


def _with_bias(model: PreTrainedModel) -> PreTrainedModel:
    """Published files bring final_logits_bias; here it is no zero, so that a test would miss it."""
    model.final_logits_bias.normal_()
    return model


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


def _pegasus(folder: Path) -> PreTrainedModel:
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
    return _with_bias(PegasusForConditionalGeneration(config))
