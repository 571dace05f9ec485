"""A tiny model, a word tokenizer and ranked documents, all made up on the spot."""

import pytest
import torch
from tiny_models import tiny_bart, word_tokenizer
from training_runs import table

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.training.batches import RankedDocuments
from brido.training.contrastive import ContrastiveTask
from brido.training.settings import TrainingSettings, ValidationSettings
from brido.work.settings import RuntimeSettings


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer():
    return word_tokenizer()


@pytest.fixture(scope="session")
def documents():
    return RankedDocuments(table(18))


@pytest.fixture(scope="session")
def validation():
    return RankedDocuments(table(9, seed=1))


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
def make_task(tokenizer, documents, validation, tmp_path):
    """A training task on 18 documents: 10 updates of at most 4 in 2 epochs."""

    def make(name="run", model_changes=None, runtime=None, documents=documents, **changes):
        settings = TrainingSettings(**{**SETTINGS, **changes})
        model = tiny_bart(**(model_changes or {}))
        return ContrastiveTask(
            LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=32)),
            documents,
            validation,
            settings,
            RuntimeSettings(device="cpu", **(runtime or {})),
            folder=tmp_path / name,
            history_file=tmp_path / f"{name}.csv",
        )

    return make
