"""A tiny model, a word tokenizer and ranked documents, all made up on the spot."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from brido.settings import RuntimeSettings, TrainingSettings, ValidationSettings
from brido.training.batches import Encoder
from brido.training.documents import RankedDocuments
from brido.training.loop import Task

WORDS = [f"w{number}" for number in range(40)]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """BART's conventions over 40 words: `<s> x </s>`."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    backend = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = WhitespaceSplit()
    backend.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )


def tiny_bart(seed: int = 0, **changes: object) -> BartForConditionalGeneration:
    torch.manual_seed(seed)
    shape = {
        "vocab_size": len(SPECIAL) + len(WORDS),
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "max_position_embeddings": 64,
        "dropout": 0.0,
        "init_std": 0.2,
    }
    return BartForConditionalGeneration(BartConfig(**{**shape, **changes}))


def tables(
    documents: int, candidates: int = 4, seed: int = 0
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Corpus, candidates and scores; a candidate's score says how much of it is in the source."""
    random = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(documents)]
    sources, references, texts, values, orders = [], [], [], [], []
    for _ in ids:
        source = random.choice(WORDS, size=random.integers(6, 20))
        sources.append(" ".join(source))
        references.append(" ".join(source[:4]))
        rows = [random.choice(WORDS, size=random.integers(2, 8)) for _ in range(candidates)]
        texts.append([" ".join(row) for row in rows])
        score = np.array([np.isin(row, source).mean() for row in rows])
        values.append(score.tolist())
        orders.append(np.argsort(-score, kind="stable").tolist())
    corpus = pa.table({"id": ids, "document": sources, "summary": references})
    return (
        corpus,
        pa.table({"id": ids, "candidates": texts}),
        pa.table({"id": ids, "scores": values, "order": orders}),
    )


@pytest.fixture(scope="session")
def documents() -> RankedDocuments:
    return RankedDocuments(*tables(18))


@pytest.fixture(scope="session")
def validation() -> RankedDocuments:
    return RankedDocuments(*tables(9, seed=1))


SETTINGS = {
    "epochs": 2,
    "batch_size": 4,
    "learning_rate": 0.02,
    "gamma": 2.0,
    "margin": 0.1,
    "length_penalty": 1.0,
    "max_source_tokens": 32,
    "max_candidate_tokens": 16,
    "validation": ValidationSettings(every=5, documents=9),
}


@pytest.fixture
def make_task(
    tokenizer: PreTrainedTokenizerFast,
    documents: RankedDocuments,
    validation: RankedDocuments,
    tmp_path: Path,
) -> Callable[..., Task]:
    """A training task on 18 documents: 10 updates of at most 4 in 2 epochs."""

    def make(
        name: str = "run",
        model_changes: dict | None = None,
        runtime: dict | None = None,
        model: object = None,
        **changes: object,
    ) -> Task:
        settings = TrainingSettings(**{**SETTINGS, **changes})
        model = model or tiny_bart(**(model_changes or {}))
        encoder = Encoder(
            tokenizer,
            model,
            settings.max_source_tokens,
            settings.max_candidate_tokens,
            settings.decoder_prefix,
        )
        return Task(
            model,
            encoder,
            documents,
            validation,
            settings,
            RuntimeSettings(device="cpu", **(runtime or {})),
            folder=tmp_path / name,
            history_file=tmp_path / f"{name}.csv",
        )

    return make
