"""How long a user's texts are, and how much of them a model reads and writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from brido.cli.init.data import Data
from brido.cli.init.model import Model
from brido.utils.text import split_sentences

# Longer documents are cut: what a model reads grows the memory of training.
_MOST_SOURCE = {"embedded": 512, "encoder_decoder": 1024, "decoder_only": 2048}
# Of a prompt with its template.
_PROMPT = 64
# Summaries if there is none to look at.
_LONGEST = 128


@dataclass(frozen=True)
class TextLengths:
    """Tokens: of half of the texts, on average, of 19 in 20."""

    half: int
    mean: float
    most: int

    @classmethod
    def of(cls, counts: Sequence[int]) -> "TextLengths":
        """Return the lengths of some counts, of which there must be one at least."""
        ordered = sorted(counts)
        last = len(ordered) - 1
        return cls(ordered[last // 2], sum(ordered) / len(ordered), ordered[round(0.95 * last)])


@dataclass(frozen=True)
class Limits:
    """How long texts are, and how much of them is read and written.

    documents, summaries: tokens (None: there are no summaries). source_tokens: what is read of a
    document at most; more_tokens: what reads 19 in 20 of them whole, or as much as the model can.
    sentences: of a summary, on average; words: of half of them; alike: whether summaries are about
    equally long.
    """

    documents: TextLengths
    summaries: TextLengths | None
    source_tokens: int
    more_tokens: int
    summary_tokens: int
    sentences: float
    words: int
    alike: bool


def find_limits(data: Data, model: Model) -> Limits:
    """Return limits that fit 19 of 20 documents and nearly every summary."""
    documents = TextLengths.of(model.count(data.texts))
    summaries = TextLengths.of(model.count(data.summaries)) if data.summaries else None
    prompt = _PROMPT if model.form == "decoder_only" else 0
    written = _round_up(1.25 * summaries.most + 4, 8) if summaries else _LONGEST
    more = _round_up(documents.most + prompt, 32)
    if model.positions is not None:
        written = min(written, model.positions // 2)
        more = min(more, model.positions - (written if prompt else 0))
    texts = data.summaries or [""]
    words = TextLengths.of([len(text.split()) for text in texts])
    return Limits(
        documents,
        summaries,
        min(more, _MOST_SOURCE[model.form]),
        more,
        written,
        sum(len(split_sentences(text)) for text in texts) / len(texts),
        words.half,
        words.most <= 3 * max(1, words.half),
    )


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)
