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


def test_pipelines_that_cannot_answer_are_refused(tmp_path):
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.to_disk(tmp_path / "blank")
    (tmp_path / "empty").mkdir()
    refused = [
        (("nowhere", "max_np"), r"answers 'max_np'.* noun_chunks, ner"),
        (("en_core_web_none", "ner"), "python -m spacy download"),
        ((str(tmp_path / "empty"), "ner"), "cannot be loaded"),
        ((str(tmp_path / "blank"), "noun_chunks"), "answers: noun_chunks needs"),
        ((str(tmp_path / "blank"), "ner"), "answers: ner needs"),
    ]
    for given, message in refused:
        with pytest.raises(BridoError, match=message):
            load_pipeline(*given)
