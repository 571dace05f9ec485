"""A tiny model, a word tokenizer and ranked documents, all made up on the spot."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from training_helpers import SPECIAL, WORDS, tables, tiny_bart
from transformers import PreTrainedTokenizerFast

from brido.settings import RuntimeSettings, TrainingSettings, ValidationSettings
from brido.training.batches import Encoder
from brido.training.documents import RankedDocuments
from brido.training.loop import Task


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
            32,
            settings.max_candidate_tokens,
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
