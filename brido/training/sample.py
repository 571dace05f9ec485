"""Does the model write better summaries? It decodes a sample of documents while it trains.

Apart from `validation`, because fine-tuning decodes nothing: an edit of the search trains no base.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from brido.evaluation import Inputs, mentions, rouge
from brido.models.language_model import LanguageModel
from brido.search import SearchSettings, beam_search
from brido.search.own_search import own_search
from brido.tables import CORPUS, read_rows
from brido.text.words import seeing_tokenizer
from brido.training.contrastive import ContrastiveTask


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
        """Return the measures of the model's best hypotheses; the model is in eval mode."""
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
        return self.measure(texts)


def sample_generator(task: ContrastiveTask, corpus: Path) -> SampleGenerator:
    """Decodes the documents that `task` is validated on; corpus: the table that they are of.

    It measures ROUGE (`rouge`: the mean of R-1, R-2, R-Lsum) and mentions, with their default
    settings: no section but `training` changes how a run is watched. Where the default tokenizer
    sees no word of most documents ROUGE is that of words of any script: it would be 0 throughout.
    """
    rows = {row["id"]: row for row in read_rows(corpus, CORPUS, "download")}
    known = [rows[document.id] for document in task.validation or []]
    inputs = Inputs(
        [row["id"] for row in known],
        [row["document"] for row in known],
        [],
        [row["references"] for row in known],
        [row["facts"] for row in known] if known and "facts" in known[0] else None,
    )
    words = rouge.RougeSettings(tokenizer=seeing_tokenizer(inputs.documents))

    def measure(summaries: list[str]) -> dict[str, float]:
        given = replace(inputs, summaries=summaries)
        found = rouge.METRIC.measure(given, words).means()
        found["rouge"] = fmean(found[name] for name in ("r1", "r2", "rlsum"))
        mentioned = mentions.METRIC.measure(given).means()
        return found | {f"mentions_{name}": value for name, value in mentioned.items()}

    longest = task.settings.max_candidate_tokens
    return SampleGenerator(inputs.documents, task.documents_at_once, longest, measure)
