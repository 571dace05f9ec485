"""Tiny random models in the published archives' layouts, and a small spaCy pipeline of our own."""

import io
import json
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
    RobertaConfig,
    RobertaForSequenceClassification,
)

TEXTS = [
    "The court in Leeds jailed Ann Smith for three years on Monday.",
    "A judge said the driver had lied about the crash near Oldbridge.",
    "Who won the award? What did the council in Leeds approve? When was it?",
    "The café's owner, Dr. Élan O'Neil, 34, sold 1,200 cakes; he isn't sorry.",
]
DETERMINERS = {"a", "an", "the", "three"}
PREPOSITIONS = {"in", "for", "on", "about", "near", "of"}
VERBS = {"jailed", "said", "had", "lied", "won", "is", "was", "approved", "met", "sold", "left"}


@Language.component("toy_parser")
def toy_parser(doc: Doc) -> Doc:
    """Sentences at full stops; runs of nominal words are noun phrases headed by their last word."""
    kinds = [_kind(token.text) for token in doc]
    heads, labels = [0] * len(doc), [""] * len(doc)
    first = 0
    for index, token in enumerate(doc):
        if token.text in {".", "?", "!"} or index == len(doc) - 1:
            _parse(kinds, first, index + 1, heads, labels)
            first = index + 1
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        pos=kinds,
        heads=heads,
        deps=labels,
    )


def _parse(kinds: list[str], first: int, last: int, heads: list[int], labels: list[str]) -> None:
    """Fill in heads and labels of the sentence from word `first` to before `last`."""
    root = next((i for i in range(first, last) if kinds[i] == "VERB"), first)
    for i in range(first, last):
        heads[i], labels[i] = root, "dep"
        if kinds[i] not in {"NOUN", "DET"}:
            continue
        end = i
        while end + 1 < last and kinds[end + 1] in {"NOUN", "DET"}:
            end += 1
        heads[i], labels[i] = (end, "compound") if end != i else (root, "dobj")
    heads[root], labels[root] = root, "ROOT"


def _kind(text: str) -> str:
    lowered = text.lower()
    if lowered in DETERMINERS:
        return "DET"
    if lowered in PREPOSITIONS:
        return "ADP"
    if lowered in VERBS:
        return "VERB"
    return "NOUN" if any(letter.isalnum() for letter in text) else "PUNCT"


@pytest.fixture(scope="session")
def pipeline_folder(tmp_path_factory) -> Path:
    """A spaCy pipeline saved as a user's own would be."""
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_parser")
    folder = tmp_path_factory.mktemp("spacy") / "toy"
    nlp.to_disk(folder)
    return folder


@dataclass
class Published:
    """A folder of archives, and the models that went into them."""

    folder: Path
    questions: BartForConditionalGeneration
    answering: ElectraForQuestionAnswering
    lerc_quip: RobertaForSequenceClassification


def _bpe(folder: Path) -> int:
    tokenizer = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(TEXTS, vocab_size=350, special_tokens=specials)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))
    return tokenizer.get_vocab_size()


def _wordpiece(folder: Path) -> int:
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(TEXTS, vocab_size=160, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))
    return tokenizer.get_vocab_size()


def _write_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _tar(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _saved(state: dict[str, torch.Tensor], zipped: bool = True) -> bytes:
    """A state as torch.save writes it; zipped: as since torch 1.6."""
    buffer = io.BytesIO()
    torch.save(state, buffer, _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


# Tensors that the published files hold, and that the model of today has not.
OLD_TENSORS = {
    "answering": ("electra.embeddings.position_ids",),
    "lerc_quip": (
        "roberta.embeddings.position_ids",
        "roberta.pooler.dense.weight",
        "roberta.pooler.dense.bias",
    ),
}


def _settings(config: dict) -> dict[str, bytes]:
    """The settings of an archive, with a path of the machine that wrote them."""
    tokenizer = {"tokenizer_file": None, "name_or_path": "/home/author/model"}
    written = {"config.json": config, "tokenizer_config.json": tokenizer}
    written["special_tokens_map.json"] = {}
    return {name: json.dumps(content).encode() for name, content in written.items()}


def _shape(**more) -> dict:
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return {**size, "intermediate_size": 48, "max_position_embeddings": 514, **more}


def _spread(model: torch.nn.Module) -> torch.nn.Module:
    """Weights large enough that a wrong layer, bias or position changes the output visibly."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def _make_questions(folder: Path) -> BartForConditionalGeneration:
    vocabulary = _bpe(folder / "bart-large")
    # The hub's configuration carries search settings that must not reach our search.
    config = BartConfig(
        vocab_size=vocabulary, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
        decoder_ffn_dim=48, max_position_embeddings=128, bos_token_id=0, pad_token_id=1,
        eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2, dropout=0.1,
    )  # fmt: skip
    search = {"no_repeat_ngram_size": 3, "early_stopping": True, "forced_bos_token_id": 0}
    base = {**config.to_dict(), **search, "num_beams": 4}
    _write_json(folder / "bart-large" / "config.json", base)
    config.vocab_size = vocabulary + 2
    model = _spread(BartForConditionalGeneration(config))
    model.final_logits_bias.normal_()
    state = {f"bart.{key}": value for key, value in model.state_dict().items()}
    del state["bart.lm_head.weight"]
    files = {"weights.th": _saved(state), "config.json": b"never read", "vocabulary/.lock": b""}
    _tar(folder / "generation_model.tar.gz", files)
    return model


def _make_answering(folder: Path, scratch: Path) -> ElectraForQuestionAnswering:
    vocabulary = _wordpiece(scratch / "electra")
    config = ElectraConfig(vocab_size=vocabulary, embedding_size=32, **_shape())
    model = _spread(ElectraForQuestionAnswering(config))
    state = dict(model.state_dict())
    state |= {name: torch.arange(514)[None] for name in OLD_TENSORS["answering"]}
    files = {"pytorch_model.bin": _saved(state, zipped=False)}
    settings = {"model_type": "electra", "summary_type": "first", "summary_use_proj": True}
    files |= _settings(config.to_dict() | settings)
    files["vocab.txt"] = (scratch / "electra" / "vocab.txt").read_bytes()
    with zipfile.ZipFile(folder / "answering_model.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(f"model/{name}", content)
    return model


def _make_quip(folder: Path, scratch: Path) -> RobertaForSequenceClassification:
    vocabulary = _bpe(scratch / "roberta")
    config = RobertaConfig(
        vocab_size=vocabulary, num_labels=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        type_vocab_size=1, **_shape(),
    )  # fmt: skip
    model = _spread(RobertaForSequenceClassification(config))
    old = OLD_TENSORS["lerc_quip"]
    state = dict(model.state_dict()) | {name: torch.arange(514.0)[None] for name in old}
    settings = {"gradient_checkpointing": False, "problem_type": "regression"}
    files = {"pytorch_model.bin": _saved(state)} | _settings(config.to_dict() | settings)
    files |= {
        name: (scratch / "roberta" / name).read_bytes() for name in ("vocab.json", "merges.txt")
    }
    inside = {f"quip-512-mocha/{name}": content for name, content in files.items()}
    _tar(folder / "quip-512-mocha.tar.gz", inside)
    return model


@pytest.fixture(scope="session")
def published(tmp_path_factory) -> Published:
    """The three archives with the generator's base folder, made of tiny random models."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder, scratch = tmp_path_factory.mktemp("published"), tmp_path_factory.mktemp("scratch")
    questions = _make_questions(folder)
    answering = _make_answering(folder, scratch)
    return Published(folder, questions, answering, _make_quip(folder, scratch))
