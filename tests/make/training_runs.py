"""Training runs of tiny models on made-up documents, and the ways in which they end."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import transformers
from accelerate import debug_launcher
from accelerate.state import AcceleratorState, PartialState
from tiny_chat import END, TEXT_END, chat_tokenizer
from tiny_decoders import GEMMA, GPT2, SHAPE
from tiny_models import WORDS
from torch import Tensor

from brido.models import LanguageModel
from brido.models.settings import LoraSettings, ReadingSettings
from brido.training.batches import RankedDocuments
from brido.training.contrastive import ContrastiveTask
from brido.training.run import TrainState
from brido.training.sample import SampleGenerator
from brido.training.settings import TrainingSettings, ValidationSettings
from brido.training.task import Task
from brido.training.train import train
from brido.work.settings import RuntimeSettings

TOKENIZER = chat_tokenizer()
SIZE = {"vocab_size": len(TOKENIZER), "initializer_range": 0.2}
SIZE |= {"eos_token_id": [END, TEXT_END], "bos_token_id": 1, "pad_token_id": None}
LONG = SHAPE | SIZE | {"max_position_embeddings": 256}
CONFIGS = {
    "llama": lambda: transformers.LlamaConfig(**LONG),
    "qwen2": lambda: transformers.Qwen2Config(**LONG),
    "qwen3": lambda: transformers.Qwen3Config(**LONG, head_dim=8),
    "gemma3": lambda: transformers.Gemma3TextConfig(**LONG | GEMMA),
    "gpt2": lambda: transformers.GPT2Config(
        **GPT2 | SIZE | {"n_positions": 256}, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0
    ),
}
LORA = LoraSettings(rank=2, alpha=4.0)


def language(family: str) -> LanguageModel:
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(CONFIGS[family]())
    model.generation_config.eos_token_id = [END, TEXT_END]
    model.generation_config.max_new_tokens = 6
    reading = ReadingSettings(max_source_tokens=90, prompt="Say: {{ document }}")
    return LanguageModel(model, TOKENIZER, reading)


def task_of(family: str, folder: Path, runtime: dict | None = None, **changes: object):
    """A run of 5 updates on 10 documents."""
    settings = {
        "epochs": 1, "batch_size": 2, "learning_rate": 0.01, "gamma": 2.0, "margin": 0.1,
        "max_candidate_tokens": 24, "validation": ValidationSettings(every=5, documents=4),
    }  # fmt: skip
    documents = RankedDocuments(table(10, candidates=3))
    task = ContrastiveTask(
        language(family),
        documents,
        documents.sample(3),
        TrainingSettings(**settings | changes),
        RuntimeSettings(device="cpu", **(runtime or {})),
        folder / "work",
        folder / "history.csv",
    )
    texts = [document.document for document in task.validation]
    task.generator = SampleGenerator(texts, 2, 24, lambda written: {"rouge": len("".join(written))})
    return task


def table(documents: int, candidates: int = 4, seed: int = 0) -> pa.Table:
    """What RankedDocuments takes; a candidate's score says how much of it is in the source."""
    random = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(documents)]
    sources, references, texts, values = [], [], [], []
    for _ in ids:
        source = random.choice(WORDS, size=random.integers(6, 20))
        sources.append(" ".join(source))
        references.append(" ".join(source[:4]))
        rows = [random.choice(WORDS, size=random.integers(2, 8)) for _ in range(candidates)]
        texts.append([" ".join(row) for row in rows])
        score = np.array([np.isin(row, source).mean() for row in rows])
        values.append(score.tolist())
    columns = {"id": ids, "document": sources, "reference": references}
    return pa.table(columns | {"candidates": texts, "scores": values})


class Killed(BaseException):
    """Stands for kill -9: nothing catches it."""


def kill_at(monkeypatch: pytest.MonkeyPatch, update: int, by: type[BaseException] = Killed) -> None:
    """Let the next runs die when update `update` is done, before anything is noted about it."""
    count = TrainState.count

    def dying(self: TrainState, *arguments: object) -> None:
        if self.update + 1 == update:
            raise by("stopped")
        count(self, *arguments)

    monkeypatch.setattr(TrainState, "count", dying)


def run_in_process(task: Task, save: Path | None) -> None:
    """What each of the forked processes does."""
    torch.set_num_threads(1)
    AcceleratorState._reset_state(reset_partial_state=True)
    train(task)
    if PartialState().is_main_process:
        torch.save(task.model.state_dict(), task.folder / "final.pt")
        if save is not None:
            task.language.save(save)


def on_two_processes(task: Task, save: Path | None = None) -> dict[str, Tensor]:
    """The final weights of a run on two gloo processes; the model is saved as a folder too."""
    AcceleratorState._reset_state(reset_partial_state=True)
    debug_launcher(run_in_process, (task, save), num_processes=2)
    return torch.load(task.folder / "final.pt", weights_only=True)
