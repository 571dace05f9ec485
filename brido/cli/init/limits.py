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

    documents, summaries: tokens (None: there are no summaries); sentences, words: of a summary,
    on average and of half of them; alike: whether summaries are about equally long.

    source_tokens: what is read of a document at most; more_tokens: what would read 19 in 20 of them
    whole, or as much as the model can, None where it reads no more. most_tokens: what the model can
    read, None where it has no limit.
    """

    documents: TextLengths
    summaries: TextLengths | None
    source_tokens: int
    summary_tokens: int
    sentences: float
    words: int
    alike: bool
    more_tokens: int | None = None
    most_tokens: int | None = None


def find_limits(data: Data, model: Model) -> Limits:
    """Return limits that fit 19 of 20 documents and nearly every summary."""
    documents = TextLengths.of(model.count(data.texts))
    summaries = TextLengths.of(model.count(data.summaries)) if data.summaries else None
    prompt = _PROMPT if model.form == "decoder_only" else 0
    written = _round_up(1.25 * summaries.most + 4, 8) if summaries else _LONGEST
    wanted, most = _round_up(documents.most + prompt, 32), None
    if model.positions is not None:
        written = min(written, model.positions // 2)
        most = model.positions - (written if prompt else 0)
    elif model.form == "embedded":
        most = _MOST_SOURCE[model.form]  # it is made for so many
    read = min(wanted, _MOST_SOURCE[model.form], most or wanted)
    more = min(wanted, most or wanted)
    texts = data.summaries or [""]
    words = sorted(len(text.split()) for text in texts)
    return Limits(
        documents,
        summaries,
        read,
        written,
        sum(len(split_sentences(text)) for text in texts) / len(texts),
        words[len(words) // 2],
        words[round(0.95 * (len(words) - 1))] <= 3 * max(1, words[len(words) // 2]),
        more if more > read else None,
        most,
    )


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)
