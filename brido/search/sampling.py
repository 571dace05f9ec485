"""One token after the other without beams: greedy search, and sampling."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from brido.models.arguments import as_tensor, as_written_sources
from brido.models.family import check_scores, family_of
from brido.models.tokens import Sources
from brido.search.drawing import draw
from brido.search.guidance import Guidance, guided_steps
from brido.search.result import OnStep, SearchResult
from brido.search.settings import (
    SamplingSettings,
    SearchSettings,
    check_settings,
)
from brido.search.token_by_token import Pick, WrittenRows
from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def greedy_search(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    settings: SearchSettings,
    guidance: Guidance | None,
    on_step: OnStep | None,
) -> SearchResult:
    """The most likely token at each step: one sequence a document.

    Tokens as `model.generate` with one beam; scores as in a beam search, but for a repetition
    penalty, which steers the choice and is left out of the score.
    """
    sources = as_written_sources(model, input_ids, attention_mask)
    pick: Pick = lambda logits, rows, length: logits.argmax(-1)  # noqa: E731
    return _write(model, sources, settings, 1, pick, guidance, on_step)


def sample(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    settings: SamplingSettings,
    uniforms: Tensor,
    guidance: Guidance | None = None,
    on_step: OnStep | None = None,
) -> SearchResult:
    """N sampled sequences a document, in the order drawn.

    input_ids, attention_mask: as for `brido.search.beam_search`. uniforms: [B, N, max_length]
    numbers in [0, 1), one a token (`document_uniforms`): what is drawn depends on them alone, not
    on how documents are batched, up to rounding (seldom in float32; in bfloat16 a batch of another
    size changed a third of SmolLM2's samples). A score is the model's log-likelihood (before
    temperature and truncation) over the number of new tokens to the power length_penalty. on_step:
    as for `brido.search.beam_search`.

    Raises:
        ArgumentError: see `brido.models.arguments`; other settings, or uniforms of another shape
            or range.
        BridoError: the model has fewer positions than max_length, cannot be searched (see
            `brido.models.tokens`), or computes NaN.

    Example:
        >>> tokens = tokenizer(["A document."], return_tensors="pt")
        >>> settings = SamplingSettings(num_return_sequences=5, temperature=0.8, max_length=12)
        >>> uniforms = document_uniforms(0, ["document-1"], 5, 12)
        >>> sample(model, tokens.input_ids, tokens.attention_mask, settings, uniforms).scores.shape
        torch.Size([1, 5])
    """
    check_settings(settings, SamplingSettings)
    sources = as_written_sources(model, input_ids, attention_mask)
    uniforms = as_tensor("uniforms", uniforms)
    wanted = [len(sources.ids), settings.num_return_sequences, settings.max_length]
    if list(uniforms.shape) != wanted:
        raise ArgumentError(
            f"uniforms must be [documents, samples, max_length] {wanted}, not "
            f"{list(uniforms.shape)}: document_uniforms makes them"
        )
    # Of other numbers (`randn`) the first or last token would be drawn, again and again.
    if not bool(((uniforms >= 0) & (uniforms < 1)).all()):
        raise ArgumentError("uniforms must be numbers in [0, 1): document_uniforms makes them")
    draws = uniforms.to(model.device).flatten(0, 1)

    def pick(logits: Tensor, rows: Tensor, length: int) -> Tensor:
        return draw(logits, settings, draws[rows, length])

    count = settings.num_return_sequences
    return _write(model, sources, settings, count, pick, guidance, on_step)


def document_uniforms(seed: int, ids: list[str], count: int, length: int) -> Tensor:
    """Random numbers in [0, 1), float64 [B, count, length], a function of the seed and each id.

    Raises:
        ArgumentError: ids are not a list of texts.

    Example:
        >>> document_uniforms(0, ["document-1", "document-2"], 5, 12).shape
        torch.Size([2, 5, 12])
    """
    numbers = []
    for document in as_texts("ids", ids):
        digest = hashlib.sha256(document.encode("utf-8", "surrogatepass")).digest()
        generator = np.random.default_rng([seed, int.from_bytes(digest[:16])])
        numbers.append(generator.random((count, length)))
    return torch.from_numpy(np.array(numbers).reshape(-1, count, length))


def _write(
    model: PreTrainedModel,
    sources: Sources,
    settings: SearchSettings | SamplingSettings,
    rows_a_document: int,
    pick: Pick,
    guidance: Guidance | None,
    on_step: OnStep | None,
) -> SearchResult:
    family = family_of(model.config)
    special = family.special(model)
    documents = len(sources.ids)
    with torch.inference_mode():
        if guidance is None:
            steps = family.steps(model, sources, settings.max_length)
        else:
            steps = guided_steps(model, sources, settings.max_length, guidance)
        device = sources.ids.device
        writing = WrittenRows(steps, documents, special, settings, rows_a_document, device, on_step)
        sequences, scores = writing.run(pick)
    check_scores(model, scores.view(documents, -1), every=False)
    # Copies made outside inference mode may be used in training.
    sequences = sequences.view(documents, rows_a_document, -1).clone()
    return SearchResult(sequences, scores.view(documents, -1).clone())
