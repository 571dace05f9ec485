"""Texts checked against their sources: each checker, with the facts of the world and without."""

from brido.checkers.minicheck import Sentence
from brido.checkers.settings import MentionsSupport
from brido.checkers.texts import (
    Checked,
    SourceText,
    by_mentions,
    by_model,
    check_texts,
    make_checker,
)
from brido.corpus.settings import WorldSettings
from brido.work.settings import RuntimeSettings
from brido.world.generator import document

SOURCE = SourceText("A lorry hit a wall in Ashwick at 9.")
RUNTIME = RuntimeSettings()


class Judge:
    """A model that knows the probability of each sentence."""

    def __init__(self, answers: dict[str, list[float]]) -> None:
        self.answers, self.asked = answers, []

    def sentences(self, documents, texts):
        self.asked += zip(documents, texts, strict=True)
        return [[Sentence("", value) for value in self.answers[text]] for text in texts]


def test_mentions_are_counted_and_a_text_without_any_is_supported():
    texts = ["A lorry hit Colham at 9.", "It hit a wall.", "A lorry hit ASHWICK."]
    exact = make_checker(MentionsSupport(), RUNTIME, "cpu")
    assert exact([SOURCE], [texts]) == [[Checked(0.5, 1), Checked(1.0, 0), Checked(0.0, 1)]]
    folded = make_checker(MentionsSupport(case_sensitive=False), RUNTIME, "cpu")
    assert folded([SOURCE], [texts])[0][2] == Checked(1.0, 0)


def test_a_model_is_asked_about_every_text_of_every_source():
    judge = Judge({"both": [0.9, 0.1], "none": [], "doubt": [0.5]})
    other = SourceText("Another.")
    checked = by_model([SOURCE, other], [["both", "none"], ["doubt"]], judge)
    # A sentence at .5 is not in doubt.
    assert checked == [[Checked(0.5, 1), Checked(1.0, 0)], [Checked(0.5, 0)]]
    documents = [SOURCE.document, SOURCE.document, other.document]
    assert judge.asked == list(zip(documents, ["both", "none", "doubt"], strict=True))


def test_where_there_are_facts_they_count_whatever_the_checker_says():
    row = document(WorldSettings(bare_references=0.0), "train", 0)
    text = row["summary"]
    source = SourceText(row["document"], text, row["facts"])
    ((counted,),) = by_mentions([source], [[text]])
    found = by_model([source], [[text]], Judge({text: [0.2]}))
    assert found == [[Checked(0.2, counted.unsupported)]]
    missing = {fact["value"] for fact in source.facts if not fact["in_document"]}
    assert counted.unsupported == sum(value in text for value in missing)


def test_the_columns_are_a_value_of_each_text():
    source = SourceText(SOURCE.document, "A lorry hit a wall.")
    texts = ["A lorry hit a wall.", "A lorry hit a", "Wall wall wall."]
    first, second = check_texts([source, SOURCE], [texts, ["A bus."]], by_mentions)
    assert first == {
        "support": [1.0, 1.0, 1.0],
        "unsupported": [0, 0, 0],
        "words": [5, 4, 3],
        "whole": [True, False, False],
        "copied": [1.0, 1.0, 0.0],
    }
    assert second["words"] == [2]
