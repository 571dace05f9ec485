"""The spans of a summary that questions are asked about, by a spaCy pipeline.

The released code takes the noun chunks of every sentence (the BRIDO paper speaks of named
entities): no cap, no removal of pronouns or repetitions. Another spaCy model or version moves the
chunks, so both belong to a score's signature.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from brido.utils.arguments import check_choices
from brido.utils.errors import BridoError, quoted
from brido.utils.paths import user_path

Strategy = Literal["noun_chunks", "ner"]
ENTITY_LABELS = frozenset({"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART"})


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
    """Return the spaCy pipeline that is installed under `name` or saved in the folder `name`.

    Raises:
        BridoError: it is neither, cannot be read, or lacks what the answers of `strategy` need; or
            an unknown strategy.
    """
    import spacy

    check_choices({"answers": (strategy, get_args(Strategy))})
    folder = user_path(name)
    try:
        pipeline = spacy.load(folder if folder.is_dir() else name)
    except (OSError, ValueError, ImportError) as error:
        raise BridoError(
            f"spacy_model: the spaCy pipeline {quoted(name)} cannot be loaded ({error}): install "
            "one with `python -m spacy download en_core_web_sm`, or give the folder of a pipeline "
            "saved by spaCy"
        ) from None
    doc = pipeline("The court in London heard the case.")
    annotation = {"noun_chunks": "DEP", "ner": "ENT_IOB"}[strategy]
    if not (doc.has_annotation("SENT_START") and doc.has_annotation(annotation)):
        raise BridoError(
            f"spacy_model: the pipeline {quoted(name)} finds no sentences, or not what answers: "
            f"{strategy} needs; en_core_web_sm does"
        )
    return pipeline


def pipeline_version(pipeline: Any) -> dict[str, Any]:
    """Name and version of the pipeline and of spaCy, for the signature."""
    import spacy

    meta = pipeline.meta
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    return {"pipeline": name, "pipeline_version": meta.get("version"), "spacy": spacy.__version__}
