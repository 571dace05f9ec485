"""What encoder-decoders read: a document, with the text around it that a prompt or T5 asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brido.models.document_places import pieces_of
from brido.models.interface import ModelParts
from brido.models.prompt import Prompt


@dataclass(frozen=True)
class PlainPrompt(Prompt):
    """What an encoder reads: text around the document, as its tokenizer reads any text."""

    def ids(self, document: str) -> list[int]:
        """Return the tokens of the prompt about a whole document, the tokenizer's own included."""
        ids: list[int] = self.tokenizer(document.join(self.pieces), verbose=False).input_ids
        return ids

    def fit_all(self, documents: Sequence[str], limit: int) -> tuple[list[list[int]], list[int]]:
        """See Prompt."""
        if len(self.pieces) != 2 or self.pieces[1]:
            return super().fit_all(documents, limit)
        # The text ends with the document: the tokenizer cuts it, all documents at once.
        texts = [self.pieces[0] + document for document in documents]
        rows = self.tokenizer(texts, truncation=True, max_length=limit).input_ids
        # Special tokens stand at the end of a cut text too, so its length alone says nothing.
        full = [place for place, ids in enumerate(rows) if len(ids) == limit]
        whole = self.tokenizer([texts[n] for n in full], verbose=False).input_ids if full else []
        return rows, [place for place, ids in zip(full, whole, strict=True) if len(ids) > limit]


def prompt_of(parts: ModelParts) -> PlainPrompt:
    """The text around a document: `reading.prompt`, or what the model itself was trained with.

    T5's settings name a prefix for each task (`task_specific_params`), which transformers'
    summarization pipeline put in front of a document. `{{ document }}` as the prompt does without.

    Raises:
        BridoError: `reading.prompt` cannot be used.
    """
    if parts.reading.prompt is not None:
        return PlainPrompt(parts.tokenizer, pieces_of(parts.reading))
    prefix = own_prefix(getattr(parts.model.config, "task_specific_params", None))
    return PlainPrompt(parts.tokenizer, (prefix, ""))


def own_prefix(tasks: Any) -> str:
    """What `task_specific_params` of a model's settings put in front of a document; "" if nothing.

    Strangers write anything there.
    """
    task = tasks.get("summarization") if isinstance(tasks, dict) else None
    prefix = task.get("prefix") if isinstance(task, dict) else None
    return prefix if isinstance(prefix, str) else ""
