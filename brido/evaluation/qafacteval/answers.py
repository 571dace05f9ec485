"""The spans of a summary that questions are asked about, by a spaCy pipeline.

The released code takes the noun chunks of every sentence (the BRIDO paper speaks of named
entities): no cap, no removal of pronouns or repetitions. Another spaCy model or version moves the
chunks, so both belong to a score's signature.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from brido.utils.errors import BridoError, quoted
from brido.utils.paths import user_path

Strategy = Literal["noun_chunks", "ner"]
ENTITY_LABELS = frozenset({"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART"})
# spaCy publishes its pipelines on the hub, as unpacked folders.
HUB_OWNER = "spacy"


@dataclass(frozen=True)
class AnswerSpan:
    """A span of the summary and the sentence around it; character offsets, ends exclusive."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int
    text: str


def select_answers(
    pipeline: Any, texts: Iterable[str], strategy: Strategy = "noun_chunks"
) -> list[list[AnswerSpan]]:
    """Return the answers of each text, sentence by sentence, in the order of the released code.

    pipeline: what `load_pipeline` returns. strategy: `noun_chunks` (as released) or `ner`.
    """
    return [
        [
            AnswerSpan(each.start_char, each.end_char, sent.start_char, sent.end_char, each.text)
            for sent in doc.sents
            for each in _spans(sent, strategy)
        ]
        for doc in pipeline.pipe(texts)
    ]


def _spans(sentence: Any, strategy: Strategy) -> Iterable[Any]:
    if strategy == "noun_chunks":
        return sentence.noun_chunks
    return [entity for entity in sentence.ents if entity.label_ in ENTITY_LABELS]


def load_pipeline(name: str, strategy: Strategy = "noun_chunks") -> Any:
    """Return the spaCy pipeline installed under `name`, saved in the folder `name`, or on the hub.

    An installed package comes first, then the folder, then the Hugging Face cache (spaCy publishes
    its pipelines there as `spacy/NAME`).

    Raises:
        BridoError: it is nowhere, cannot be read, or lacks what the answers of `strategy` need; or
            an unknown strategy.
    """
    import spacy

    known = get_args(Strategy)
    if strategy not in known:
        raise BridoError(f"answers: {quoted(strategy)} is not one of {', '.join(known)}")
    path = user_path(name)
    try:
        if spacy.util.is_package(name):
            pipeline = spacy.load(name)
        else:
            pipeline = spacy.load(path if path.is_dir() else _from_hub(name))
    except (OSError, ValueError, ImportError) as error:
        raise BridoError(f"spacy_model: {quoted(name)} cannot be loaded: {error}") from None
    _check_pipeline(pipeline, name, strategy)
    return pipeline


def _from_hub(name: str) -> str:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return snapshot_download(f"{HUB_OWNER}/{name}", ignore_patterns=["*.whl"])
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise BridoError(
            f"spacy_model: the spaCy pipeline {quoted(name)} is neither installed, nor a folder, "
            f"nor in the Hugging Face cache ({type(error).__name__}). Install it with "
            f"`python -m spacy download {name}`, or give the folder of a pipeline saved by spaCy"
        ) from None


def _check_pipeline(pipeline: Any, name: str, strategy: Strategy) -> None:
    """Raise BridoError if the pipeline would find no answer in any text."""
    parts = {"noun_chunks": ("parse", "DEP"), "ner": ("named entities", "ENT_IOB")}
    doc = pipeline("The court in London heard the case.")
    missing = [
        what
        for what, annotation in (("sentences", "SENT_START"), parts[strategy])
        if not doc.has_annotation(annotation)
    ]
    if missing:
        raise BridoError(
            f"spacy_model: the pipeline {quoted(name)} lacks {' and '.join(missing)}, which "
            f"answers: {strategy} needs; en_core_web_sm has them"
        )


def pipeline_version(pipeline: Any) -> dict[str, Any]:
    """Name and version of the pipeline and of spaCy, for the signature."""
    import spacy

    meta = pipeline.meta
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    return {"pipeline": name, "pipeline_version": meta.get("version"), "spacy": spacy.__version__}
