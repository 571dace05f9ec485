"""A model trained from scratch on (document, summary) pairs, as a task of the loop.

What is trained, sizes and start values, is `brido.models.embedded`'s.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import AdamW, Optimizer
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from brido.models.checkpoint import save
from brido.models.embedded import EOS, PAD, build_model, learn_tokenizer, tokenizer_of
from brido.models.language_model import LanguageModel
from brido.models.settings import EmbeddedSettings, ReadingSettings
from brido.models.tokens import padded
from brido.training.task import Loss, LossParts, Task, UpdateData
from brido.training.train import train
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

Pair = tuple[str, str]
Example = tuple[list[int], list[int]]
WARMUP_SHARE = 0.05
WEIGHT_DECAY = 0.01
# Batches are cut from pools of this many batches, sorted by length: little padding, nearly random.
POOL_BATCHES = 32
# Rows of losses in a run's history.
ROWS = 20


def train_embedded(
    name: str,
    pairs: Sequence[Pair],
    settings: EmbeddedSettings,
    runtime: RuntimeSettings,
    work: Path,
    folder: Path,
) -> dict[str, Any]:
    """Train tokenizer and model on (document, summary) pairs, save both in `folder`, and return
    what happened: steps, parameters, vocabulary, and the loss of the last tenth of the steps.

    name: the key of `checkpoints`. The unfinished run is kept in `work` (see
    `brido.training.train`). Equal pairs and settings give equal files on one machine with one
    number of threads.

    Raises:
        BridoError: no pairs, more weights than memory holds, or a loss that diverges.
    """
    if not pairs:
        raise BridoError("the training split is empty: the embedded model has nothing to learn")
    file = work / "tokenizer.json"
    longest = max(settings.max_source_tokens, settings.max_summary_tokens)
    if not file.is_file():
        texts = (text for pair in pairs for text in pair)
        write_text(file, learn_tokenizer(texts, settings.tokenizer, settings.vocabulary_size))
    tokenizer = tokenizer_of(file.read_text(encoding="utf-8"), longest)
    torch.manual_seed(settings.seed)
    model = build_model(settings, tokenizer)
    examples = encode(model, tokenizer, pairs, settings)
    task = PretrainingTask(name, model, examples, settings, runtime, work)
    state = train(task)
    save(model.cpu().eval(), tokenizer, folder)
    return {
        "pairs": len(pairs),
        "steps": task.updates,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "vocabulary": len(tokenizer),
        "loss": sum(state.last_losses) / len(state.last_losses),
    }


def encode(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    pairs: Sequence[Pair],
    settings: EmbeddedSettings,
) -> list[Example]:
    """Return the token ids of every pair, source and summary."""
    reading = ReadingSettings(max_source_tokens=settings.max_source_tokens)
    language = LanguageModel(model, tokenizer, reading)
    read = language.read([document for document, _ in pairs])
    sources = [ids[mask.bool()].tolist() for ids, mask in zip(read.ids, read.mask, strict=True)]
    # A decoder's start token takes a position.
    limit = settings.max_summary_tokens - language.family.started
    summaries = language.family.write(language, [[summary] for _, summary in pairs], None, limit)
    return list(zip(sources, (ids[1:] for ids in summaries), strict=True))


class SummaryBatch(NamedTuple):
    """B sources [B, S] and summaries [B, T], both padded with PAD."""

    sources: Tensor
    labels: Tensor


class SummaryLoss(Loss):
    """The cross-entropy of (document, summary) pairs, a mean over the summaries' tokens."""

    def __init__(self, model: PreTrainedModel, label_smoothing: float) -> None:
        super().__init__(model)
        self.label_smoothing = label_smoothing

    def forward(self, batch: SummaryBatch, micro_batch: int | None = None) -> LossParts:
        """The loss; micro_batch changes nothing, because there are no candidates."""
        start = torch.full_like(batch.labels[:, :1], EOS)
        logits = self.model(
            input_ids=batch.sources,
            attention_mask=(batch.sources != PAD).long(),
            decoder_input_ids=torch.cat([start, batch.labels[:, :-1]], dim=1),
            use_cache=False,
        ).logits
        loss = functional.cross_entropy(
            logits.flatten(0, 1),
            batch.labels.flatten(),
            ignore_index=PAD,
            label_smoothing=self.label_smoothing,
        )
        return LossParts(loss, loss.detach(), torch.zeros_like(loss))


@dataclass
class PretrainingTask(Task):
    """Cross-entropy with AdamW, linear warm-up and decay; an update is one batch."""

    system: str
    model: PreTrainedModel
    pairs: list[Example]
    settings: EmbeddedSettings
    runtime: RuntimeSettings
    folder: Path
    max_gradient_norm: float | None = 1.0

    def __post_init__(self) -> None:
        self.name, self.key = f"train {self.system} from scratch", f"checkpoints.{self.system}"
        self.remedy = f"Lower {self.key}.embedded.learning_rate"
        self.seed = self.settings.seed
        lengths = [len(source) for source, _ in self.pairs]
        generator = random.Random(self.seed)
        epochs = [
            epoch_batches(lengths, self.settings.batch_size, generator)
            for _ in range(self.settings.epochs)
        ]
        self._batches = [batch for epoch in epochs for batch in epoch]
        self.updates, self.updates_per_epoch = len(self._batches), len(epochs[0])
        self.every = -(-self.updates // ROWS)

    def rate(self, update: int) -> float:
        warmup = max(1, round(WARMUP_SHARE * self.updates))
        falling = max(0.0, 1 - (update - 1) / self.updates)
        return self.settings.learning_rate * min(update / warmup, falling)

    def optimizer(self, weights: list[nn.Parameter]) -> Optimizer:
        return AdamW(weights, lr=self.rate(1), weight_decay=WEIGHT_DECAY)

    def loss(self) -> SummaryLoss:
        return SummaryLoss(self.model, self.settings.label_smoothing)

    def examples(self, update: int) -> UpdateData:
        return UpdateData([self._batches[update - 1]])

    def batch(self, chunk: list[int]) -> SummaryBatch:
        examples = [self.pairs[index] for index in chunk]
        return SummaryBatch(*(padded(rows, PAD) for rows in zip(*examples, strict=True)))


def epoch_batches(lengths: Sequence[int], size: int, generator: random.Random) -> list[list[int]]:
    """Cut an epoch into batches in random order, sources of like length together."""
    order = list(range(len(lengths)))
    generator.shuffle(order)
    pool = size * POOL_BATCHES
    batches = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda index: lengths[index])
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    generator.shuffle(batches)
    return batches
