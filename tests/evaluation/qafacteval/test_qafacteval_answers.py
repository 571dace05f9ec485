"""Answers of a summary by a saved spaCy pipeline whose noun chunks really run."""

import pytest
import spacy
from spacy.tokens import Doc, Span

from brido.evaluation.qafacteval.answers import load_pipeline, select_answers
from brido.utils.errors import BridoError

SUMMARY = "The court jailed Ann Smith for three years. She left."


@pytest.fixture(scope="module")
def pipeline(pipeline_folder):
    return load_pipeline(str(pipeline_folder))


def test_noun_chunks_of_every_sentence_with_offsets(pipeline):
    (answers,) = select_answers(pipeline, [SUMMARY])
    assert [answer.text for answer in answers] == ["The court", "Ann Smith", "three years", "She"]
    for answer in answers:
        assert SUMMARY[answer.start : answer.end] == answer.text
        assert answer.sentence_start <= answer.start < answer.end <= answer.sentence_end
    sentences = {SUMMARY[a.sentence_start : a.sentence_end] for a in answers}
    assert sentences == {"The court jailed Ann Smith for three years.", "She left."}


@pytest.mark.parametrize(
    ("text", "found"),
    [("Ann met Ann.", ["Ann", "Ann"])] + [(text, []) for text in ("", "   ", "\n", "lied.", "?")],
)
def test_repeated_chunks_stay_and_some_texts_have_none(pipeline, text, found):
    (answers,) = select_answers(pipeline, [text])
    assert [answer.text for answer in answers] == found


class _Fixed:
    """A pipeline that returns a parse written out by hand."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc

    def pipe(self, texts):
        return [self.doc for _ in texts]


def test_entities_of_eight_kinds():
    words = ["Ann", "met", "the", "Kurds", "on", "Monday"]
    doc = Doc(spacy.blank("en").vocab, words, sent_starts=[True, *[False] * 5])
    doc.ents = [Span(doc, 0, 1, "PERSON"), Span(doc, 3, 4, "NORP"), Span(doc, 5, 6, "DATE")]
    assert [a.text for a in select_answers(_Fixed(doc), ["x"], "ner")[0]] == ["Ann", "Kurds"]


def test_an_unknown_strategy_is_named_before_anything_is_loaded():
    with pytest.raises(BridoError, match=r"answers: 'max_np'.* noun_chunks, ner"):
        load_pipeline("nowhere", "max_np")


def test_no_pipeline_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BridoError, match="python -m spacy download en_core_web_none"):
        load_pipeline("en_core_web_none")
    with pytest.raises(BridoError, match="cannot be loaded"):
        load_pipeline(str(tmp_path))


@pytest.mark.parametrize(
    ("strategy", "missing"),
    [
        ("noun_chunks", "lacks parse, which answers: noun_chunks"),
        ("ner", "lacks named entities, which answers: ner"),
    ],
)
def test_a_pipeline_without_what_the_answers_need_is_refused(tmp_path, strategy, missing):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(tmp_path / "blank")
    with pytest.raises(BridoError, match=missing):
        load_pipeline(str(tmp_path / "blank"), strategy)
