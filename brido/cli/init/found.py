"""What a plan rests on: the documents, the model, and how much of them it reads and writes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from brido.cli.init.data import Data
from brido.cli.init.model import Model
from brido.settings.presets import read_preset
from brido.text.words import split_sentences

# Tokens of a prompt with its template, and of summaries if there is none to look at.
_PROMPT, _LONGEST = 64, 128
# Longer documents are cut, with an encoder and without: what is read grows the memory of training.
_MOST_SOURCE = {True: 1024, False: 2048}


@dataclass(frozen=True)
class Found:
    """The documents, the model, the preset of this kind of model, and lengths in tokens.

    lengths: of the first documents. written: of a summary on average. source_tokens: what is read
    of a document at most; more_tokens: what reads 19 in 20 of them whole, or as much as the model
    can. summary_tokens: what is written at most. words: of half of the summaries, 0 if they are not
    about equally long. sentences: of a summary, on average.
    """

    data: Data
    model: Model
    recipe: dict[str, Any]
    lengths: list[int]
    written: float
    source_tokens: int
    more_tokens: int
    summary_tokens: int
    sentences: float
    words: int

    @classmethod
    def of(cls, data: Data, model: Model) -> "Found":
        """Limits that fit 19 of 20 documents and nearly every summary."""
        lengths, summaries = model.count(data.texts), model.count(data.summaries or [""])
        prompt = 0 if model.encoder else _PROMPT
        most = _LONGEST
        if data.summaries:
            most = _round_up(1.25 * np.percentile(summaries, 95) + 4, 8)
        more = _round_up(np.percentile(lengths, 95) + prompt, 32)
        if model.positions is not None:
            most = min(most, model.positions // 2)
            more = min(more, model.positions - (most if prompt else 0))
        words = [len(text.split()) for text in data.summaries or [""]]
        half = int(np.median(words))
        return cls(
            data,
            model,
            _recipe(model, bool(data.summaries)),
            lengths,
            float(np.mean(summaries)) if data.summaries else most / 2,
            min(more, _MOST_SOURCE[model.encoder]),
            more,
            most,
            float(np.mean([len(split_sentences(text)) for text in data.summaries or [""]])),
            half if np.percentile(words, 95) <= 3 * half else 0,
        )


def _recipe(model: Model, labelled: bool) -> dict[str, Any]:
    """The preset of this kind of model, without the systems that need references if there are none.

    Without them none can weigh in an order, and base does not learn, so it is untuned itself.
    """
    preset = read_preset(model.preset)
    for name, changes in list(preset["tuned"].items()):
        if not labelled and changes.get("scoring", {}).get("alpha"):
            del preset["tuned"][name]
    for name, changes in list(preset["variants"].items()):
        if not labelled and changes["checkpoint"] != "base":
            del preset["variants"][name]
    return preset


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)
