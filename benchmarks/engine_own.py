"""This project, and transformers, as sides of benchmarks.engines in workers of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from brido.likelihood.likelihood import sequence_statistics
from brido.models.checkpoint import load_checkpoint
from brido.models.language_model import columns_first, lay_out, written_with
from brido.search import SamplingSettings, SearchSettings, beam_search, diverse_beam_search, sample
from brido.search.sampling import document_uniforms

Rows = list[list[int]]


def read_model(folder: str, threads: int, precision: str) -> Any:
    """The model of a folder, for this many threads."""
    torch.set_num_threads(threads)
    return load_checkpoint(Path(folder), getattr(torch, precision))[0].eval()


class Brido:
    """This project, its weights laid out as stages do.

    A work gets a prompt and texts. It writes as many texts of the same length, or scores them.
    """

    package = "torch"

    def __init__(self, folder: str, threads: int, precision: str) -> None:
        self.model = read_model(folder, threads, precision)
        self.started = int(self.model.config.is_encoder_decoder)
        self.lay_out()

    def lay_out(self) -> None:
        lay_out(self.model)

    def samples(self, prompt: list[int], texts: Rows) -> Rows:
        uniforms = document_uniforms(0, ["document"], len(texts), len(texts[0]))
        keys = {"num_return_sequences": len(texts), "top_p": 0.95}
        return self._written(sample, SamplingSettings, prompt, texts, uniforms, **keys)

    def beams(self, prompt: list[int], texts: Rows) -> Rows:
        return self._written(beam_search, SearchSettings, prompt, texts, num_beams=len(texts))

    def diverse(self, prompt: list[int], texts: Rows) -> Rows:
        keys = {"num_beams": len(texts), "num_beam_groups": len(texts), "diversity_penalty": 1.0}
        return self._written(diverse_beam_search, SearchSettings, prompt, texts, **keys)

    def likelihood(self, prompt: list[int], texts: Rows) -> list[float]:
        ids, rows = torch.tensor([prompt]), torch.tensor(texts)
        given = torch.cat([ids[:, -1:].expand(len(rows), 1), rows], 1)[None]
        counts = torch.full((1, len(rows)), rows.shape[1])
        with torch.inference_mode():
            sums = sequence_statistics(self.model, ids, torch.ones_like(ids), given, counts)
        return sums.log_probability[0].tolist()

    def _written(
        self,
        search: Callable[..., Any],
        settings: type,
        prompt: list[int],
        texts: Rows,
        *more: Any,
        **keys: Any,
    ) -> Rows:
        ids, length = torch.tensor([prompt]), len(texts[0]) + self.started
        given = settings(min_length=length, max_length=length, **keys)
        written = search(self.model, ids, torch.ones_like(ids), given, *more)
        return written.sequences[0, :, self.started :].tolist()


class Unpacked(Brido):
    """This project without `brido.models.products`, as on processors of other makers than AMD."""

    def lay_out(self) -> None:
        columns_first(written_with(self.model))


class Transformers:
    """The installed `generate`, and a forward pass of all rows."""

    package = "transformers"

    def __init__(self, folder: str, threads: int, precision: str) -> None:
        self.model = read_model(folder, threads, precision)

    def samples(self, prompt: list[int], texts: Rows) -> Rows:
        return self._written(prompt, texts, do_sample=True, temperature=1.0, top_p=0.95, top_k=0)

    def beams(self, prompt: list[int], texts: Rows) -> Rows:
        return self._written(prompt, texts, do_sample=False, num_beams=len(texts))

    def likelihood(self, prompt: list[int], texts: Rows) -> list[float]:
        rows, tokens = torch.tensor([prompt + text for text in texts]), len(texts[0])
        with torch.inference_mode():
            logits = self.model(rows, logits_to_keep=tokens + 1).logits[:, :-1].log_softmax(-1)
        return logits.gather(2, rows[:, -tokens:, None]).sum((1, 2)).tolist()

    def _written(self, prompt: list[int], texts: Rows, **settings: Any) -> Rows:
        ids, tokens = torch.tensor([prompt]), len(texts[0])
        written = self.model.generate(
            ids, attention_mask=torch.ones_like(ids), num_return_sequences=len(texts),
            min_new_tokens=tokens, max_new_tokens=tokens, **settings,
        )  # fmt: skip
        return written[:, -tokens:].tolist()


OWN = {"brido": Brido, "unpacked": Unpacked, "transformers": Transformers}
