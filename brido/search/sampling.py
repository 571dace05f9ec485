"""One token after the other without beams: greedy search, and sampling."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from brido.models.arguments import as_tensor, as_written_sources
from brido.models.family import check_scores, family_of
from brido.models.tokens import Sources
from brido.search.guidance import Guidance, guided_steps
from brido.search.result import OnStep, SearchResult
from brido.search.settings import (
    SamplingSettings,
    SearchSettings,
    TruncationSettings,
    check_settings,
)
from brido.search.token_by_token import Pick, WrittenRows
from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Tokens of a row that are looked at before all are sorted: there are rarely more to choose from.
FIRST_LOOK = 2048

# Takes probabilities [R, L], the largest first, and the mass [R, 1] of what the rules before left;
# returns what to keep, [R, L]: the first so many of each row.
Rule = Callable[[Tensor, Tensor], Tensor]


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


def draw(logits: Tensor, settings: TruncationSettings, uniforms: Tensor) -> Tensor:
    """One token a row of logits [R, V], drawn from those that the settings leave.

    uniforms: [R] in [0, 1); equal numbers draw equal tokens. What is left is what transformers'
    warpers leave, in their order: temperature, top_k, top_p, min_p.
    """
    if settings.temperature != 1:
        logits = logits / settings.temperature
    return draw_from(logits.softmax(-1), settings, uniforms)


def draw_from(probabilities: Tensor, settings: TruncationSettings, uniforms: Tensor) -> Tensor:
    """`draw` without temperature, from probabilities [R, V]."""
    rules = list(_rules(settings))
    if not rules:  # nothing is left out: no order is needed, and a vocabulary is long to sort
        return _place(probabilities.double(), uniforms)
    size = probabilities.shape[1]
    drawn, more = _draw_among(probabilities, rules, uniforms, min(FIRST_LOOK, size))
    if len(more):
        drawn[more], _ = _draw_among(probabilities[more], rules, uniforms[more], size)
    return drawn


def _draw_among(
    probabilities: Tensor, rules: list[Rule], uniforms: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """A token of each row [R], drawn from its `count` likeliest; the rows that need more of them.

    They are those of which the rules keep all `count`, and perhaps others behind.
    """
    whole = count == probabilities.shape[1]
    if whole:  # of equal ones the first
        top, tokens = probabilities.sort(dim=1, descending=True, stable=True)
    else:
        top, tokens = probabilities.topk(count, dim=1)
    top = top.double()
    kept, mass = top > 0, torch.ones_like(top[:, :1])
    more = torch.zeros_like(kept[:, 0])
    for rule in rules:
        kept = kept & rule(top, mass)
        mass = torch.where(kept, top, 0.0).sum(1, keepdim=True)
        more |= kept[:, -1]
    place = _place(torch.where(kept, top, 0.0), uniforms)
    return tokens.gather(1, place[:, None])[:, 0], more.nonzero()[: 0 if whole else None, 0]


def _place(weights: Tensor, uniforms: Tensor) -> Tensor:
    """Where in its row of weights [R, L] each number falls: never on a weight of 0."""
    sums = weights.cumsum(1)
    total = sums[:, -1:].contiguous()
    place = torch.searchsorted(sums, uniforms[:, None] * total, right=True)
    # A number that rounding took to the sum's end belongs to the weight that completes it.
    last = torch.searchsorted(sums, total).clamp(max=weights.shape[1] - 1)
    return place.minimum(last)[:, 0]


def _rules(settings: TruncationSettings) -> Iterator[Rule]:
    """What the settings ask for. (top_p: Holtzman et al., 2020; top_k: Fan et al., 2018; min_p:
    Nguyen et al., 2025.)"""
    if settings.top_k:
        yield lambda top, mass: top >= top[:, : settings.top_k][:, -1:]
    if settings.top_p < 1:
        yield lambda top, mass: top.cumsum(1) - top < settings.top_p * mass
    if settings.min_p:
        yield lambda top, mass: top >= settings.min_p * top[:, :1]
