"""The model as a generator: summaries of a sample of documents while it is being trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brido.models.language_model import LanguageModel
from brido.search import SearchSettings, beam_search
from brido.search.own_search import own_search


@dataclass
class SampleGenerator:
    """Decodes the documents with the model's own search settings and measures the summaries.

    `measure` gets one summary per document and returns named measures, `rouge` among them where
    training keeps the best generator. A decoder-only model that does not say how many tokens it
    writes writes at most `longest`.
    """

    documents: Sequence[str]
    documents_at_once: int
    longest: int
    measure: Callable[[list[str]], dict[str, float]]

    def __call__(self, language: LanguageModel) -> dict[str, float]:
        """The measures of what the model, in eval mode, writes."""
        return self.measure(self.summaries(language))

    def summaries(self, language: LanguageModel) -> list[str]:
        """The best hypothesis of every document, white space tidied."""
        model = language.model
        config, behind_prompts = model.generation_config, not model.config.is_encoder_decoder
        limit = self.longest if behind_prompts and config.max_new_tokens is None else None
        own = own_search(config.to_dict(), {"max_length": limit}, behind_prompts)
        settings = SearchSettings(**own, num_return_sequences=1, count_prompt=False)
        texts: list[str] = []
        for start in range(0, len(self.documents), self.documents_at_once):
            part = self.documents[start : start + self.documents_at_once]
            sources = language.read(part).to(model.device)
            found = beam_search(model, sources.ids, sources.mask, settings)
            texts += language.text(found.sequences[:, 0].cpu())
        return texts
