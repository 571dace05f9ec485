"""What the learned overlaps read: layout, segments, and where they cut."""

import pytest
import torch

from brido.evaluation.qafacteval.lerc import Comparison, Lerc, LercQuip
from brido.evaluation.qafacteval.weights import find_models

CPU = torch.device("cpu")
SHORT = Comparison("Who left?", "Ann Smith", "The judge", "The court in Leeds jailed Ann.")


@pytest.fixture(scope="module")
def lerc(published) -> Lerc:
    torch.set_num_threads(1)
    return Lerc(find_models(str(published.folder), "lerc")["lerc"], CPU)


@pytest.fixture(scope="module")
def quip(published) -> LercQuip:
    return LercQuip(find_models(str(published.folder), "lerc_quip")["lerc_quip"], CPU)


def _ids(scorer: Lerc, text: str) -> list[int]:
    return scorer.tokenizer(text, add_special_tokens=False)["input_ids"]


def test_lerc_layout_and_segments(lerc):
    encoded = lerc.encode(SHORT)
    cls, sep = lerc.tokenizer.cls_token_id, lerc.tokenizer.sep_token_id
    source, question = _ids(lerc, SHORT.source), _ids(lerc, SHORT.question)
    answer, prediction = _ids(lerc, SHORT.answer), _ids(lerc, SHORT.prediction)
    assert encoded.ids == [
        cls, *source, sep, *question, sep, *answer, sep, *prediction, sep,
    ]  # fmt: skip
    assert encoded.second == len(source) + len(question) + 3


def test_separators_in_a_text_do_not_move_the_segments(lerc):
    marked = Comparison("Who [SEP] left?", "Ann [SEP]", "[SEP]", "A [SEP] B")
    encoded = lerc.encode(marked)
    length = len(_ids(lerc, marked.source)) + len(_ids(lerc, marked.question))
    assert encoded.second == length + 3


def test_lerc_drops_the_end_of_the_source(lerc):
    source = " ".join(f"court {'Leeds ' * (i % 3)}" for i in range(600))
    encoded = lerc.encode(Comparison(SHORT.question, SHORT.answer, SHORT.prediction, source))
    whole = lerc.encode(SHORT)
    rest = len(whole.ids) - len(_ids(lerc, SHORT.source)) - 1
    assert len(encoded.ids) == 512
    assert encoded.ids[1 : 512 - rest] == _ids(lerc, source)[: 511 - rest]
    assert encoded.ids[-rest:] == whole.ids[-rest:]


@pytest.mark.parametrize(
    ("question", "answer", "prediction"),
    [("court " * 600, "Ann", "Bob"), ("Who?", "Ann", "court " * 600), ("Who?", "Ann " * 600, "B")],
)
def test_lerc_survives_texts_that_leave_no_room(lerc, question, answer, prediction):
    encoded = lerc.encode(Comparison(question, answer, prediction, "The source."))
    separators = encoded.ids.count(lerc.tokenizer.sep_token_id)
    assert (len(encoded.ids), separators) == (512, 4)
    assert encoded.ids[1] == lerc.tokenizer.sep_token_id
    (score,) = lerc.score([encoded])
    assert score == score


def test_quip_is_one_text_with_plain_tags(quip):
    text = "Who left? <q> Ann Smith <r> The judge <c> The court in Leeds jailed Ann."
    assert quip.encode(SHORT).ids == quip.tokenizer(text)["input_ids"]


def test_quip_cuts_the_source(quip):
    long = Comparison(SHORT.question, SHORT.answer, SHORT.prediction, "court " * 900)
    ids, short = quip.encode(long).ids, quip.encode(SHORT).ids
    assert len(ids) == 512
    assert ids[-1] == quip.tokenizer.eos_token_id
    start = len(quip.tokenizer("Who left? <q> Ann Smith <r> The judge <c>")["input_ids"]) - 1
    assert ids[:start] == short[:start]


@pytest.mark.parametrize("kind", ["lerc", "quip"])
def test_padding_changes_no_score(kind, request):
    scorer = request.getfixturevalue(kind)
    others = [
        Comparison("When?", "Monday", "on Monday", "court " * count) for count in (1, 40, 200)
    ]
    batch = [scorer.encode(item) for item in [SHORT, *others]]
    together = scorer.score(batch)
    single = [scorer.score([item])[0] for item in batch]
    assert together == pytest.approx(single, rel=1e-4, abs=1e-5)
    assert len(set(single)) == 4
