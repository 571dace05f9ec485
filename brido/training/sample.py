"""The model as a generator: summaries of a sample of documents while it is being trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transformers import PreTrainedModel

from brido.models.language_model import LanguageModel
from brido.search import SearchSettings, beam_search

SEARCH_KEYS = (
    "num_beams",
    "length_penalty",
    "min_length",
    "max_length",
    "no_repeat_ngram_size",
    "early_stopping",
)


@dataclass
class SampleGenerator:
    """Decodes the documents with the model's own search settings and measures the summaries.

    `measure` gets one summary per document and returns named measures, `rouge` among them where
    training keeps the best generator.
    """

    documents: Sequence[str]
    documents_at_once: int
    measure: Callable[[list[str]], dict[str, float]]

    def __call__(self, language: LanguageModel) -> dict[str, float]:
        """The measures of what the model, in eval mode, writes."""
        return self.measure(self.summaries(language))

    def summaries(self, language: LanguageModel) -> list[str]:
        """The best hypothesis of every document, white space tidied."""
        settings, model = own_search_settings(language.model), language.model
        texts: list[str] = []
        for start in range(0, len(self.documents), self.documents_at_once):
            part = self.documents[start : start + self.documents_at_once]
            sources = language.read(part).to(model.device)
            found = beam_search(model, sources.ids, sources.mask, settings)
            texts += language.text(found.sequences[:, 0].cpu())
        return texts


def own_search_settings(model: PreTrainedModel) -> SearchSettings:
    """Beam search as the checkpoint's generation_config describes it; one hypothesis a document."""
    given = {
        name: value
        for name in SEARCH_KEYS
        if (value := getattr(model.generation_config, name, None)) is not None
    }
    return SearchSettings(**given, num_return_sequences=1)
