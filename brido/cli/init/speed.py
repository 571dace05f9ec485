"""How fast a model reads, writes and learns on this machine: one update and one batch are timed.

Speed does not depend on the weights: what runs is a model of the same shape with random ones, so
nothing has to be fetched. A large one runs with fewer layers, and the times are scaled.
"""

import copy
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.utils import logging

from brido.cli.init.model import Model, count_weights
from brido.likelihood import candidate_log_likelihood
from brido.models.family import family_of
from brido.models.language_model import LanguageModel
from brido.models.products import faster_training
from brido.models.settings import ReadingSettings
from brido.search import SamplingSettings
from brido.search.sampling import document_uniforms, sample
from brido.utils.device import computing_device, inference_dtype
from brido.utils.errors import parsing
from brido.utils.progress import say

# So many weights are run at most, on so many documents, of which so many tokens are read in all.
_WEIGHTS = 250_000_000
_DOCUMENTS, _TOKENS = 4, 800
# The share of several cores that such a model keeps busy, as whole runs on two showed.
_BUSY = 0.7
# Candidates of a document, tokens that are written of each, most tokens of a summary to learn from.
_CANDIDATES, _STEPS, _LONGEST = 12, 6, 128
_LAYERS = "num_hidden_layers encoder_layers decoder_layers num_layers num_decoder_layers"


@dataclass(frozen=True)
class Speed:
    """Seconds: of reading a token, of writing one (in a batch), and of learning from one (forward,
    backward and the update). memory: bytes that a token takes while it is learned from."""

    read: float
    write: float
    learn: float
    memory: float = 0.0


def measure_speed(
    model: Model, documents: Sequence[str], summaries: Sequence[str], reading: ReadingSettings
) -> Speed:
    """Run the model on some documents of median length.

    summaries: what it learns from, if there are any.

    Raises:
        BridoError: it does not run: its family has rules of its own, or memory is short.
    """
    place = computing_device("auto")
    with parsing(
        lambda reason: (
            f"--model: {model.source} cannot be timed here ({reason}): name another, or "
            f"begin with `brido preset {model.preset}`"
        )
    ):
        built, scale = _random_model(model)
        language = LanguageModel(built.to(place), model.tokenizer, reading)
        half = statistics.median_low(model.count(documents))
        count = min(_DOCUMENTS, max(1, _TOKENS // min(half, reading.max_source_tokens)))
        say(f"init: an update and the candidates of {count} of your documents are timed")
        texts, learned = (
            sorted(given, key=len)[len(given) // 2 :][:count]
            for given in (documents, summaries or documents)
        )
        learn, memory = _learning(language, texts, learned)
        built.to(inference_dtype(place)).eval()
        read, write = _writing(language.ready_to_write(), texts)
    return Speed(scale * read, scale * write, scale * learn, scale * memory)


def _random_model(model: Model) -> tuple[Any, float]:
    """A model of this shape with random weights, and how many times the whole has its weights."""
    logging.set_verbosity_error()
    small = copy.deepcopy(model.config)
    if model.parameters > _WEIGHTS:
        # A model that also reads images has the layers that write in a part of its own.
        writer = small.get_text_config()
        for key in _LAYERS.split():
            if layers := getattr(writer, key, None):
                setattr(writer, key, max(1, int(layers * _WEIGHTS / model.parameters)))
        for key in ("layer_types", "attention_window"):
            if isinstance(each := getattr(writer, key, None), list):
                setattr(writer, key, each[: writer.num_hidden_layers])
    built = family_of(small).loader.from_config(small)
    return built, model.parameters / count_weights(built)


def _learning(
    language: LanguageModel, texts: list[str], summaries: list[str]
) -> tuple[float, float]:
    """Seconds and bytes a token of one update."""
    model, before = language.model.train(), _most_memory()
    sources = language.read(texts)
    positions = language.family.positions(model.config) or 256
    targets = language.write([[text] for text in summaries], sources, min(_LONGEST, positions // 2))
    sources, ids = sources.to(model.device), targets.ids.to(model.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0)

    def update() -> None:
        likely = candidate_log_likelihood(
            model, sources.ids, sources.mask, ids, 1.0, targets.lengths
        )
        likely.sum().backward()
        optimizer.step()

    with faster_training(model):
        update()  # the first time takes longer
        tokens = int(sources.mask.sum()) + int(targets.lengths.sum())
        seconds = seconds_of_work(update)
    # Beside gradients and Adam's two moments.
    memory = _most_memory() - before - 12 * count_weights(model)
    return seconds / tokens, max(memory, 0.0) / tokens


def _most_memory() -> float:
    """Bytes of memory, at most so far: of the GPU, or of this process."""
    if torch.cuda.is_available():
        return float(torch.cuda.max_memory_allocated())
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _writing(language: LanguageModel, texts: list[str]) -> tuple[float, float]:
    """Seconds a token that is read, and a token that is written."""
    sources = language.read(texts).to(language.model.device)
    ids = [str(number) for number in range(len(texts))]

    def write(steps: int) -> None:
        settings = SamplingSettings(
            num_return_sequences=_CANDIDATES, max_length=steps, top_k=0, count_prompt=False
        )
        uniforms = document_uniforms(0, ids, _CANDIDATES, steps)
        sample(language.model, sources.ids, sources.mask, settings, uniforms)

    write(2)
    short, long = seconds_of_work(lambda: write(2)), seconds_of_work(lambda: write(2 + _STEPS))
    rows = len(texts) * _CANDIDATES
    return short / int(sources.mask.sum()), max(long - short, 1e-6) / (_STEPS * rows)


def seconds_of_work(work: Callable[[], Any]) -> float:
    """Seconds that the work takes on this machine when nothing else runs on it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - start
    # Time on all cores: other programs do not count.
    start = time.process_time()
    work()
    return (time.process_time() - start) / max(1.0, _BUSY * torch.get_num_threads())
