"""From what is known of data and model to settings, and what they cost."""

import os
from dataclasses import dataclass
from typing import Any

from brido.cli.init.data import Data
from brido.cli.init.model import Model
from brido.utils.text import split_sentences

# Longer documents are cut: what a model reads grows the memory of training.
_MOST_SOURCE = {"embedded": 512, "encoder_decoder": 1024, "decoder_only": 2048}
# Of a prompt with its template.
_PROMPT = 64
# Summaries where there is none to look at.
_LONGEST = 128
# Useful operations a second, of a core and of a GPU of the middle class; nothing is measured here.
_CORE, _GPU = 2e10, 3.5e13
# What a first look may cost, and how many documents of a split it takes, at least and at most.
_LOOK_SECONDS, _LOOK = 600, (12, 200)
# Documents with candidates that show whether it helps.
_WHOLE = 1000
_EPOCHS = {"embedded": 15}


@dataclass(frozen=True)
class Lengths:
    """Tokens: of half of the texts, of 19 in 20, and of the longest."""

    half: int
    most: int
    longest: int

    @classmethod
    def of(cls, counts: list[int]) -> "Lengths":
        """The lengths of some counts, of which there is one at least."""
        counts = sorted(counts)
        last = len(counts) - 1
        return cls(counts[last // 2], counts[round(0.95 * last)], counts[last])


@dataclass(frozen=True)
class Sizes:
    """What the settings are made of; `whole` are documents with candidates after the first look."""

    documents: Lengths
    summaries: Lengths | None
    source_tokens: int
    summary_tokens: int
    candidates: int
    look: int
    whole: int
    batch: int
    sentences: float
    words: int
    on_gpu: bool

    @property
    def validation(self) -> int:
        """Validation documents of the first look that get candidates."""
        return max(4, self.look // 2)


def measure(data: Data, model: Model) -> Sizes:
    """Limits that fit 19 of 20 documents and every usual summary, and a first look's size."""
    documents = Lengths.of(model.count(data.texts))
    summaries = Lengths.of(model.count(data.summaries)) if data.summaries else None
    prompt = _PROMPT if model.form == "decoder_only" else 0
    written = _round_up(1.25 * summaries.most + 4, 8) if summaries else _LONGEST
    limit = _MOST_SOURCE[model.form]
    if model.positions is not None:
        written = min(written, model.positions // 2)
        limit = min(limit, model.positions - (written if prompt else 0))
    source = min(_round_up(documents.most + prompt, 32), limit)
    on_gpu = _on_gpu()
    candidates = 16 if model.form == "embedded" or on_gpu else 8
    texts = data.summaries or [""]
    sizes = Sizes(
        documents,
        summaries,
        source,
        written,
        candidates,
        0,
        min(_WHOLE, data.documents["train"]),
        4 if model.form == "decoder_only" else 8,
        sum(len(split_sentences(text)) for text in texts) / len(texts),
        sorted(len(text.split()) for text in texts)[len(texts) // 2],
        on_gpu,
    )
    most = min(_LOOK[1], data.documents["train"])
    one = seconds(sizes, model, 64, 64, data) / 64
    look = most if one is None else max(_LOOK[0], min(most, int(_LOOK_SECONDS / one)))
    return Sizes(**{**vars(sizes), "look": min(look, data.documents["train"])})


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)


def _on_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def seconds(sizes: Sizes, model: Model, tuned: int, others: int, data: Data) -> float:
    """Seconds of a run on `tuned` documents with candidates and `others` of validation and test.

    Counted from operations (2 a weight and token, 6 where it learns); a model of unknown size
    counts as one of 500 million weights.
    """
    weights = model.parameters or 500_000_000
    read, written = min(sizes.documents.half, sizes.source_tokens), sizes.summary_tokens / 2
    all_candidates = sizes.candidates * written
    generate = 2 * (tuned + others) * (read + all_candidates)
    train = 6 * tuned * (read + all_candidates + written)
    decode = 2 * 2 * 2 * others * (read + 4 * written)
    learn = 0.0
    if model.form == "embedded":
        learn = 6 * _EPOCHS["embedded"] * tuned * (read + written)
    elif learns_first(model, data):
        learn = 6 * tuned * (read + written)
    rate = _GPU if sizes.on_gpu else _CORE * (os.cpu_count() or 1)
    return weights * (generate + train + decode + learn) / rate


def learns_first(model: Model, data: Data) -> bool:
    """Whether base learns from the references first: a small chat model summarizes hardly."""
    return model.form == "decoder_only" and model.small and bool(data.summaries)


def settings(sizes: Sizes, model: Model, data: Data) -> dict[str, Any]:
    """The keys of params.yaml that data and model decide, dotted, with their values."""
    updates = -(-sizes.look // sizes.batch)
    values: dict[str, Any] = {
        **{f"data.files.{key}": value for key, value in data.files.items()},
        "data.max_documents": sizes.look,
        "data.max_bad_fraction": round(min(1.0, 1.1 * data.bad_fraction + 0.001), 3),
        "reading.default.max_source_tokens": sizes.source_tokens,
        "documents.train": sizes.look,
        "documents.validation": sizes.validation,
        "generation.base.num_candidates": sizes.candidates,
        "generation.base.max_length": sizes.summary_tokens,
        "pairwise.combination": (
            "mean_r1_r2_rlsum" if sizes.sentences >= 1.5 else "harmonic_r1_r2"
        ),
        "training.batch_size": sizes.batch,
        "training.warmup_steps": 0.1,
        "training.max_candidate_tokens": sizes.summary_tokens,
        "training.validation.every": max(1, updates // 4),
        "training.validation.documents": min(32, sizes.validation),
        "training.cross_entropy": "reference" if data.summaries else "elected",
        "decoding.max_length": sizes.summary_tokens,
        "runtime.threads": 1 if model.form == "embedded" else 0,
    }
    if not data.summaries:
        values |= {"systems": ["base", "tuned"]}
    return values | _FORMS[model.form](sizes, model, data)


def _searched(sizes: Sizes, model: Model, data: Data) -> dict[str, Any]:
    """One beam a group: voters that do not share a guess."""
    beams = dict.fromkeys(("num_beams", "num_beam_groups"), sizes.candidates)
    found: dict[str, Any] = {f"generation.base.{key}": value for key, value in beams.items()}
    return found | {"checkpoints.base.source": model.source}


def _embedded(sizes: Sizes, model: Model, data: Data) -> dict[str, Any]:
    """A small BART from scratch on the training split."""
    embedded = {
        "architecture": "bart",
        "seed": 0,
        "world": None,
        "tokenizer": "bpe",
        "vocabulary_size": 5000,
        "d_model": 160,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "attention_heads": 4,
        "ffn_dim": 512,
        "dropout": 0.1,
        "max_source_tokens": sizes.source_tokens,
        "max_summary_tokens": sizes.summary_tokens,
        "epochs": _EPOCHS["embedded"],
        "batch_size": 16,
        "learning_rate": 0.0015,
        "label_smoothing": 0.1,
        "num_beams": 4,
        "length_penalty": 1.0,
    }
    searched = _searched(sizes, model, data)
    del searched["checkpoints.base.source"]
    checkpoint = {"source": "embedded", "embedded": embedded}
    return searched | {"checkpoints.base": checkpoint, "training.learning_rate": 0.0001}


def _prompted(sizes: Sizes, model: Model, data: Data) -> dict[str, Any]:
    """A decoder-only model samples; a large one trains an adapter."""
    long = f"about {sizes.words} words" if data.summaries else "one or two sentences"
    asked = f"Summarize this text in {long}. Write nothing but the summary.\n\n{{{{ document }}}}"
    values: dict[str, Any] = {
        "checkpoints.base.source": model.source,
        "reading.default.prompt": asked if model.chat else "{{ document }}\n\nTL;DR:",
        "reading.default.template": {"enable_thinking": False} if model.thinks else {},
        "generation.base.temperature": 1.0,
        "generation.base.top_k": 0,
        "generation.base.top_p": 1.0 if model.small else 0.95,
        "training.learning_rate": 0.00003 if model.small else 0.0001,
    }
    if model.small:
        values["training.lora"] = None
    if learns_first(model, data):
        values["checkpoints.base.fine_tuning"] = {
            "world": None,
            "documents": None,
            "seed": 0,
            "epochs": 1,
            "batch_size": sizes.batch,
            "learning_rate": 0.0001,
            "warmup_steps": 0.1,
            "label_smoothing": 0.0,
            "max_summary_tokens": sizes.summary_tokens,
            "lora": None,
        }
    return values


_FORMS = {"embedded": _embedded, "encoder_decoder": _searched, "decoder_only": _prompted}
