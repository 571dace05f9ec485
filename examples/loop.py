"""BRIDO in one file: candidates, their vote, the ranking loss, an update.

    pip install ".[torch]"
    python examples/loop.py --model facebook/bart-large-xsum --documents train.jsonl --output tuned

The paper's method on a summarizer of transformers (encoder-decoder or decoder-only) with the
library's functions alone: no stages, tables, checkpoints on disk or resuming, one process. A test
compares its losses with those of the stages. Read it from `tune` downwards.

train.jsonl has a JSON object a line: `document` and, if there is one, `reference`. Without the file
it reads articles of the embedded world.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from brido.candidates.cleaning import clean
from brido.corpus.settings import WorldSettings
from brido.likelihood.likelihood import normalized, sequence_statistics
from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.rouge import similarity_matrix
from brido.search import SearchSettings, diverse_beam_search
from brido.training.batches import UpdatePlan, learning_rate
from brido.training.loss import combined_loss, contrastive_loss, smoothed_cross_entropy
from brido.vote import consensus_scores
from brido.world import documents as world_articles


class Document(NamedTuple):
    """A document, its reference (or None), its candidates, and their scores."""

    text: str
    reference: str | None
    candidates: list[str]
    scores: list[float]


class Losses(NamedTuple):
    """Eq. 3 and its two terms, of one update."""

    total: Tensor
    cross_entropy: Tensor
    contrastive: Tensor


@dataclass(frozen=True)
class Settings:
    """What is tuned; the names and defaults of params.yaml."""

    num_candidates: int = 16
    diversity_penalty: float = 1.0
    max_length: int = 64
    alpha: float = 0.0
    epochs: int = 1
    batch_size: int = 8
    learning_rate: float = 2e-4
    gamma: float = 80.0
    length_penalty: float = 1.5
    margin: float = 0.0245
    label_smoothing: float = 0.1
    max_gradient_norm: float = 1.0
    max_candidate_tokens: int = 64
    seed: int = 0


def tune(
    language: LanguageModel, texts: Sequence[tuple[str, str | None]], settings: Settings
) -> Iterator[Losses]:
    """Tune the model on (document, reference) pairs; yields the losses of every update."""
    documents = []
    for text, reference in texts:
        candidates = write_candidates(language, text, settings)
        # One text has nothing to agree with, and equal texts have no order.
        if len(set(candidates)) > 1:
            scores = vote(candidates, reference, settings.alpha)
            documents.append(Document(text, reference, candidates, scores))
    if not documents:
        raise SystemExit("no document has two distinct candidates that ended: raise --max-length")
    plan = UpdatePlan(len(documents), settings.batch_size, settings.epochs, settings.seed)
    model = language.model.train()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
    for update in range(1, plan.updates + 1):
        rate = learning_rate(update, plan.updates, settings.learning_rate, 0, "linear")
        optimizer.param_groups[0]["lr"] = rate
        losses = compute_losses(language, [documents[i] for i in plan.indices(update)], settings)
        losses.total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_gradient_norm)
        optimizer.step()
        optimizer.zero_grad()
        yield losses
    model.eval()


@torch.no_grad()
def write_candidates(language: LanguageModel, document: str, settings: Settings) -> list[str]:
    """N summaries by diverse beam search, one beam a group; those that end and are not empty."""
    sources = language.read([document]).to(language.model.device)
    search = SearchSettings(
        num_beams=settings.num_candidates,
        num_beam_groups=settings.num_candidates,
        diversity_penalty=settings.diversity_penalty,
        max_length=settings.max_length,
        early_stopping=True,
    )
    found = diverse_beam_search(language.model, sources.ids, sources.mask, search).sequences[0]
    cleaned = [clean(text) for text in language.text(found)]
    return [
        one.text
        for one, ended in zip(cleaned, language.ended(found), strict=True)
        if ended and one.text and not one.refused
    ]


def vote(candidates: list[str], reference: str | None, alpha: float) -> list[float]:
    """Eq. 2: how much each candidate agrees with the others (and, by alpha, the reference)."""
    similarity = similarity_matrix(candidates, reference or "", "harmonic_r1_r2")
    return consensus_scores(similarity, alpha).tolist()


def compute_losses(
    language: LanguageModel, documents: Sequence[Document], settings: Settings
) -> Losses:
    """Eq. 3 of some documents: the reference's cross-entropy and Eq. 1 over the candidates."""
    width = max(len(document.candidates) for document in documents)
    rows, scores = [], torch.zeros(len(documents), width, dtype=torch.float64)
    for row, document in enumerate(documents):
        count = len(document.candidates)
        # The reference comes first; without one the elected candidate stands in.
        best = document.candidates[max(range(count), key=document.scores.__getitem__)]
        taught = best if document.reference is None else document.reference
        rows.append([taught, *document.candidates, *[""] * (width - count)])
        scores[row, :count] = torch.tensor(document.scores, dtype=torch.float64)
    counts = torch.tensor([[len(document.candidates)] for document in documents])

    model = language.model
    sources = language.read([document.text for document in documents])
    targets = language.write(rows, sources, settings.max_candidate_tokens)
    sums = sequence_statistics(
        model,
        sources.ids.to(model.device),
        sources.mask.to(model.device),
        targets.ids.to(model.device),
        targets.lengths.to(model.device),
    )
    likelihood = normalized(sums, settings.length_penalty)
    contrastive = contrastive_loss(
        likelihood[:, 1:],
        scores,
        settings.margin,
        eligible=(torch.arange(width) < counts).to(model.device),
    )
    cross_entropy = smoothed_cross_entropy(
        sums.log_probability[:, 0],
        sums.mean_log_probability[:, 0],
        sums.tokens[:, 0],
        settings.label_smoothing,
    )
    total = combined_loss(cross_entropy, contrastive, settings.gamma)
    return Losses(total, cross_entropy, contrastive)


def load(name: str, max_source_tokens: int) -> LanguageModel:
    """A model of a hub or a folder, with its tokenizer."""
    config = AutoConfig.from_pretrained(name)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    model = kind.from_pretrained(name, dtype=torch.float32).eval()
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    reading = ReadingSettings(max_source_tokens=max_source_tokens)
    return LanguageModel(model, AutoTokenizer.from_pretrained(name), reading)


def read_texts(file: Path | None, count: int) -> list[tuple[str, str | None]]:
    """(document, reference) of a file's lines, or of the embedded world without a file."""
    if file is None:
        rows = world_articles(WorldSettings(), "train", count)
        return [(row["document"], row["summary"]) for row in rows]
    with file.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines][:count]
    return [(record["document"], record.get("reference")) for record in records]


def main() -> None:
    """Read the command line, tune, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="facebook/bart-large-xsum", help="hub id or folder")
    parser.add_argument("--documents", type=Path, help="JSON lines; default: the embedded world")
    parser.add_argument("--count", type=int, default=1000, help="documents that are read")
    parser.add_argument("--candidates", type=int, default=16, help="candidates of a document")
    parser.add_argument("--max-source-tokens", type=int, default=512)
    parser.add_argument("--max-length", type=int, default=64, help="most tokens of a summary")
    parser.add_argument("--output", type=Path, default=Path("tuned"))
    given = parser.parse_args()
    language = load(given.model, given.max_source_tokens)
    settings = Settings(
        num_candidates=given.candidates,
        max_length=given.max_length,
        max_candidate_tokens=given.max_length,
    )
    for number, losses in enumerate(
        tune(language, read_texts(given.documents, given.count), settings), 1
    ):
        print(f"update {number}:", *(f"{one.item():.4f}" for one in losses), flush=True)
    language.save(given.output)


if __name__ == "__main__":
    main()
