"""A checkpoint that turns documents into candidates: tokenizer, model, device and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from brido.candidates.batching import MemoryBudget, encode_sources, pad_batch, plan_batches
from brido.device import choose_device
from brido.errors import BridoError
from brido.models.family import family_of, inference_dtype, source_positions
from brido.models.layout import columns_first
from brido.search import SamplingSettings, SearchSettings, diverse_beam_search
from brido.search.sampling import document_uniforms, sample
from brido.settings import ReadingSettings, RuntimeSettings


@dataclass(frozen=True)
class Sampling:
    """Nucleus sampling with a seed; each document has random numbers of its own, by its id."""

    settings: SamplingSettings
    seed: int


@dataclass
class Generated:
    """Texts and scores of each document in the order asked, and how the work went."""

    texts: list[list[str]]
    scores: list[list[float]]
    truncated: int = 0
    halved: int = 0


class Generator:
    """A loaded checkpoint."""

    def __init__(
        self,
        folder: Path,
        runtime: RuntimeSettings,
        reading: ReadingSettings,
        device: str | None = None,
    ) -> None:
        """Load `folder` for inference on `device` (None: what `runtime` says).

        Raises:
            BridoError: the device is not there, or the sources are longer than the model's
                positions.
        """
        self.device = _device(device or runtime.device, runtime.threads)
        auto = runtime.precision == "auto"
        dtype = inference_dtype(self.device) if auto else getattr(torch, runtime.precision)
        disable_progress_bar()  # of a fraction of a second
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype)
        self.model = model.to(self.device).eval()
        if self.device.type == "cpu":
            columns_first(self.model)
        self.max_source_tokens = reading.max_source_tokens
        self.budget = MemoryBudget(runtime.batch_tokens)
        positions = source_positions(self.model.config)
        if positions is not None and self.max_source_tokens > positions:
            raise BridoError(
                f"reading: max_source_tokens ({self.max_source_tokens}) is more than the "
                f"{positions} positions of {folder}"
            )

    def generate(
        self,
        ids: list[str],
        documents: list[str],
        method: SearchSettings | Sampling,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Generated:
        """Candidates of each document, best first (sampled ones as drawn); white space is tidied.

        `advance` is called with the number of documents of each finished batch.
        """
        if not documents:
            return Generated([], [])
        tokens, truncated = encode_sources(self.tokenizer, documents, self.max_source_tokens)
        found: dict[int, tuple[list[str], list[float]]] = {}
        sampled = isinstance(method, Sampling)
        rows = method.settings.num_return_sequences if sampled else method.num_beams
        halved_before = self.budget.halved

        def work(numbers: list[int]) -> None:
            pad = self.model.generation_config.pad_token_id
            batch = pad_batch([tokens[number] for number in numbers], pad, self.device)
            sequences, scores = self._run(batch, [ids[number] for number in numbers], method)
            for place, number in enumerate(numbers):
                found[number] = (self._texts(sequences[place]), scores[place].tolist())
            advance(len(numbers))

        waiting = list(range(len(documents)))
        while waiting:
            # Planned anew after each batch: the budget may have shrunk.
            lengths = [len(tokens[number]) for number in waiting]
            first = plan_batches(lengths, rows, self.budget.tokens)[0]
            self.budget.run([waiting[place] for place in first], work)
            waiting = [number for number in waiting if number not in found]
        results = [found[number] for number in range(len(documents))]
        return Generated(
            [texts for texts, _ in results],
            [scores for _, scores in results],
            truncated,
            self.budget.halved - halved_before,
        )

    def _run(
        self, batch: tuple[torch.Tensor, torch.Tensor], ids: list[str], method: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if isinstance(method, Sampling):
            settings = method.settings
            uniforms = document_uniforms(
                method.seed, ids, settings.num_return_sequences, settings.max_length
            )
            sequences, scores = sample(self.model, *batch, settings, uniforms)
            return sequences.cpu(), scores.cpu()
        result = diverse_beam_search(self.model, *batch, method)
        return result.sequences.cpu(), result.scores.cpu()

    def _texts(self, sequences: torch.Tensor) -> list[str]:
        texts = self.tokenizer.batch_decode(
            sequences, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        newline = family_of(self.model.config).newline
        if newline:
            texts = [text.replace(newline, " ") for text in texts]
        return [" ".join(text.split()) for text in texts]


def _device(name: str, threads: int) -> torch.device:
    device = choose_device(name, threads)
    # Scores of hypotheses are float64, which Apple's GPUs do not have.
    return torch.device("cpu") if device.type == "mps" else device
