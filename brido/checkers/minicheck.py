"""MiniCheck: how probable it is that a document supports a sentence (Tang, Laban and Durrett 2024).

A port of the released recipe to plain transformers. The document is cut at sentence ends into
chunks, and the tokenizer's end token joins each chunk with the claim. A model says how probable it
is that the chunk supports the claim; the best chunk counts. Claims are sentences. Two kinds of
model are published: a T5 that answers with one of two tokens, and classifiers (DeBERTa, RoBERTa)
with two labels.

Different from the release: where a single sentence makes a chunk too long for the model, the chunk
is cut and the claim kept (the release cuts the claim); an empty document is one empty chunk (the
release fails); sentences are split by this project's splitter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import hf_hub_download
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from brido.models.loading import SMALLEST_SHARE, pretrained, whole
from brido.text.words import split_sentences
from brido.utils.device import (
    computing_device,
    inference_dtype,
    memory_errors,
    multiplies_bfloat16,
)
from brido.utils.errors import BridoError, first_line
from brido.utils.hub_errors import hub_errors
from brido.utils.paths import user_path
from brido.utils.progress import MakeProgress, Progress, quiet
from brido.utils.store import ResultStore
from brido.work.batches import plan_batches
from brido.work.shards import content_hash

# What the T5 was taught: its prompt, and the tokens it answers with in its only step.
PROMPT = "predict: "
UNSUPPORTED, SUPPORTED = 3, 209
LONGEST = 2048
# Words of a chunk for the T5, tokens of one for a classifier.
WORDS, TOKENS = 500, 400

Pair = tuple[str, str]  # a chunk of a document, and a claim


class Sentence(NamedTuple):
    """A sentence of a text and the probability that its document supports it."""

    text: str
    probability: float


class MiniCheck:
    """A loaded model; make one with `load`. Every answer is kept in the store."""

    def __init__(
        self, model: Any, tokenizer: Any, name: str, batch_tokens: int, store: ResultStore
    ) -> None:
        self.name, self.store = name, store
        self._model, self._tokenizer, self._batch_tokens = model, tokenizer, batch_tokens
        self._answers = bool(model.config.is_encoder_decoder)
        self._limit = _positions(model.config)

    @classmethod
    def load(
        cls,
        model: str,
        revision: str | None = None,
        device: str = "auto",
        precision: str = "auto",
        batch_tokens: int = 16384,
        store: Path | None = None,
        key: str = "minicheck",
    ) -> MiniCheck:
        """Return the model of a hub id or folder. store: the file that keeps every answer.

        precision: auto (bfloat16 where the GPU or the processor multiplies in it), float32 or
        bfloat16; the name of the model says which. batch_tokens: tokens in one forward pass. `key`
        is what errors name.

        Raises:
            BridoError: it cannot be fetched or loaded, or is not a model of these two kinds.
        """
        place = computing_device(device)
        dtype = inference_dtype(place, precision)
        if precision == "auto" and multiplies_bfloat16(place):
            dtype = torch.bfloat16
        folder = user_path(model)
        source = str(folder) if folder.is_dir() else model
        try:
            with hub_errors("model", model, revision, f"{key}.model"):
                if not folder.is_dir():
                    # The answers are kept by commit, not by the name of a revision.
                    path = hf_hub_download(model, "config.json", revision=revision)
                    revision = Path(path).parent.name
                config = pretrained(AutoConfig, source, revision=revision)
                answers = bool(getattr(config, "is_encoder_decoder", False))
                kind = AutoModelForSeq2SeqLM if answers else AutoModelForSequenceClassification
                tokenizer = pretrained(AutoTokenizer, source, revision=revision)
                loaded = whole(kind, source, revision=revision, dtype=dtype)
        except BridoError:
            raise
        except Exception as error:  # damaged files raise any
            raise BridoError(
                f"{key}.model: {model} cannot be loaded ({first_line(error)})"
            ) from None
        if not _is_minicheck(loaded, tokenizer):
            raise BridoError(
                f"{key}.model: {model} is not a MiniCheck model: a T5 that answers by one of two "
                "tokens or a classifier with two labels, with its own tokenizer"
            )
        version = content_hash(folder)[:16] if folder.is_dir() else revision
        name = f"{model}@{version}" + " in bfloat16" * (dtype == torch.bfloat16)
        return cls(loaded.to(place).eval(), tokenizer, name, batch_tokens, ResultStore(store))

    def sentences(
        self, documents: Sequence[str], texts: Sequence[str], progress: MakeProgress = quiet
    ) -> list[list[Sentence]]:
        """The sentences of each text, with the probabilities that its document supports them.

        An empty text has no sentence.
        """
        chunked = {text: self._chunks(text) for text in dict.fromkeys(documents)}
        # For each text its claims, each with the chunks that it is compared with.
        compared = [
            [(claim, chunked[document]) for claim in split_sentences(text)]
            for document, text in zip(documents, texts, strict=True)
        ]
        items = [(chunk, claim) for own in compared for claim, chunks in own for chunk in chunks]

        def display(count: int) -> Progress:
            return progress("minicheck", count, "pairs")

        known = self.store.recall("minicheck", self.name, items, self.batches, display)
        return [
            [Sentence(claim, max(known[chunk, claim] for chunk in chunks)) for claim, chunks in own]
            for own in compared
        ]

    def _chunks(self, document: str) -> list[str]:
        """The document in pieces of whole sentences, as many as fit; a line's end stays one."""
        pieces: list[list[str]] = [[]]
        filled = 0
        for line in document.split("\n"):
            first = True
            for sentence in split_sentences(line):
                size = len(sentence.split())
                if not self._answers:
                    size = len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])
                if filled + size > (WORDS if self._answers else TOKENS) and pieces[-1]:
                    pieces.append([])
                    filled = 0
                elif first and pieces[-1]:
                    pieces[-1].append("\n")
                pieces[-1].append(sentence)
                filled, first = filled + size, False
        return [" ".join(piece).replace(" \n ", "\n") for piece in pieces]

    def batches(self, pairs: Sequence[Pair]) -> Iterator[list[tuple[int, float]]]:
        """(number of the pair, probability) of all pairs, a forward pass after the other.

        Pairs of like length run together, so that little is computed for padding.

        Raises:
            BridoError: batch_tokens are too many for the device, or the model computes NaN.
        """
        rows = [self._read(pair) for pair in pairs]
        for numbers in plan_batches([len(row) for row in rows], self._batch_tokens):
            with memory_errors(self._batch_tokens):
                found = self._probabilities([rows[number] for number in numbers])
            if found.isnan().any():
                raise BridoError(f"{self.name} computes NaN: its weights are damaged")
            yield list(zip(numbers, found.tolist(), strict=True))

    def _read(self, pair: Pair) -> list[int]:
        """Return a pair's tokens; where they are too many, the chunk's last ones are left out."""
        begin = PROMPT if self._answers else ""
        tail = self._tokenizer.eos_token + pair[1]
        ids: list[int] = self._tokenizer(begin + pair[0] + tail, verbose=False)["input_ids"]
        if len(ids) <= self._limit:
            return ids
        head = len(self._tokenizer("", verbose=False)["input_ids"])
        kept = min(len(self._tokenizer(tail, verbose=False)["input_ids"]) - (head > 1), self._limit)
        return ids[: self._limit - kept] + ids[-kept:]

    @torch.inference_mode()
    def _probabilities(self, rows: Sequence[list[int]]) -> torch.Tensor:
        device = self._model.device
        padded = self._tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt").to(device)
        inputs = {name: padded[name] for name in ("input_ids", "attention_mask")}
        if self._answers:
            first = torch.zeros((len(rows), 1), dtype=torch.long, device=device)
            logits = self._model(**inputs, decoder_input_ids=first).logits[:, 0]
            logits = logits[:, [UNSUPPORTED, SUPPORTED]]
        else:
            logits = self._model(**inputs).logits
        return logits.float().softmax(-1)[:, 1].cpu()


def _positions(config: Any) -> int:
    """Return the longest input: as released, or as many positions as the model has a table for."""
    table = getattr(config, "max_position_embeddings", None)
    # Whether positions are added to the input; DeBERTa's are relative.
    absolute = getattr(config, "position_biased_input", True)
    if config.is_encoder_decoder or table is None or not absolute:
        return LONGEST
    # RoBERTa's count starts behind its pad token.
    offset = config.pad_token_id + 1 if "roberta" in config.model_type else 0
    return min(LONGEST, table - offset)


def _is_minicheck(model: Any, tokenizer: Any) -> bool:
    entries, size = model.get_input_embeddings().num_embeddings, len(tokenizer)
    if tokenizer.eos_token is None or not entries * SMALLEST_SHARE <= size <= entries:
        return False
    if model.config.is_encoder_decoder:
        return entries > SUPPORTED
    return model.config.num_labels == 2
