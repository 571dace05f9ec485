"""The spans of a summary that questions are asked about, by a spaCy pipeline.

The released code takes the noun chunks of every sentence (the BRIDO paper speaks of named
entities): no cap, no removal of pronouns or repetitions. Another spaCy model or version moves the
chunks, so both belong to a score's signature.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brido.utils.errors import BridoError, quoted
from brido.utils.paths import user_path

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span, Token

ENTITY_LABELS = frozenset({"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART"})
MAX_NOUN_PHRASE_TOKENS = 7
# The pipeline as an unpacked folder; spaCy's own command installs it as a package.
HUB_OWNER = "spacy"
# What a pipeline may lack, and the annotation that shows it.
_SENTENCES = ("sentences", "SENT_START")
_PARSE = ("parse", "DEP")
_ENTITIES = ("named entities", "ENT_IOB")


@dataclass(frozen=True, order=True)
class Answer:
    """A span of the summary and the sentence around it; character offsets, ends exclusive."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int
    text: str


def _answer(span: "Span", sentence: "Span") -> Answer:
    return Answer(span.start_char, span.end_char, sentence.start_char, sentence.end_char, span.text)


def _noun_chunks(sentence: "Span") -> list[Answer]:
    return [_answer(chunk, sentence) for chunk in sentence.noun_chunks]


def _entities(sentence: "Span") -> list[Answer]:
    return [_answer(entity, sentence) for entity in sentence.ents if entity.label_ in ENTITY_LABELS]


def _subtree_bounds(token: "Token") -> tuple[int, int]:
    indices = [descendant.i for descendant in token.subtree]
    return min(indices), max(indices) + 1


def _max_noun_phrases(sentence: "Span") -> list[Answer]:
    """The largest subtrees under a noun of at most seven tokens, in order of appearance."""
    waiting, found = [sentence.root], []
    while waiting:
        token = waiting.pop()
        if token.pos_ in {"NOUN", "PROPN"}:
            start, end = _subtree_bounds(token)
            if end - start <= MAX_NOUN_PHRASE_TOKENS:
                found.append(_answer(sentence.doc[start:end], sentence))
                continue
        waiting.extend(token.children)
    return sorted(found, key=lambda answer: answer.start)


def _all(sentence: "Span") -> list[Answer]:
    union = {*_noun_chunks(sentence), *_max_noun_phrases(sentence), *_entities(sentence)}
    return sorted(union)


STRATEGIES: dict[str, Callable[["Span"], list[Answer]]] = {
    "noun_chunks": _noun_chunks,
    "ner": _entities,
    "max_np": _max_noun_phrases,
    "all": _all,
}


def _select(strategy: str) -> Callable[["Span"], list[Answer]]:
    if strategy not in STRATEGIES:
        raise BridoError(f"answers: {quoted(strategy)} is none of {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]


def select_answers(
    pipeline: "Language", texts: Iterable[str], strategy: str = "noun_chunks"
) -> list[list[Answer]]:
    """The answers of each text, sentence by sentence, in the order of the released code.

    `strategy`: `noun_chunks` (the released default), `ner`, `max_np` or `all` (their union).

    Raises:
        BridoError: an unknown strategy.
    """
    select = _select(strategy)
    parsed = pipeline.pipe(texts)
    return [[answer for sent in doc.sents for answer in select(sent)] for doc in parsed]


def load_pipeline(name: str, strategy: str = "noun_chunks") -> "Language":
    """The spaCy pipeline installed under `name`, saved in the folder `name`, or on the hub.

    An installed package comes first, then the folder, then the Hugging Face cache (spaCy publishes
    its pipelines there as `spacy/NAME`).

    Raises:
        BridoError: it is nowhere, cannot be read, or lacks what the answers of `strategy` need; or
            an unknown strategy.
    """
    import spacy

    _select(strategy)
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
            f"spacy_model: there is no spaCy pipeline {quoted(name)}, neither installed nor as a "
            f"folder nor in the Hugging Face cache ({type(error).__name__}). Install it with "
            f"`python -m spacy download {name}`, or give the folder of a pipeline saved by spaCy"
        ) from None


def _check_pipeline(pipeline: "Language", name: str, strategy: str) -> None:
    """A pipeline without a needed part would find no answer in any text, and say nothing."""
    needed = [_SENTENCES] + [_PARSE] * (strategy != "ner")
    needed += [_ENTITIES] * (strategy in {"ner", "all"})
    doc = pipeline("The court in London heard the case.")
    missing = [what for what, annotation in needed if not doc.has_annotation(annotation)]
    if missing:
        raise BridoError(
            f"spacy_model: the pipeline {quoted(name)} gives no {' and no '.join(missing)}, which "
            f"answers: {strategy} needs; en_core_web_sm has them"
        )


def pipeline_version(pipeline: "Language") -> dict[str, Any]:
    """Name and version of the pipeline and of spaCy, for the signature."""
    import spacy

    meta = pipeline.meta
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    return {"pipeline": name, "pipeline_version": meta.get("version"), "spacy": spacy.__version__}
