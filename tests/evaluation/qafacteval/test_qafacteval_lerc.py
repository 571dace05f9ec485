"""What the learned overlap reads: one text with plain tags, cut at the source's end."""

import pytest
import torch

from brido.evaluation.qafacteval.lerc import Comparison, LercQuip
from brido.evaluation.qafacteval.weights import find_models

SHORT = Comparison("Who left?", "Ann Smith", "The judge", "The court in Leeds jailed Ann.")


@pytest.fixture(scope="module")
def quip(published) -> LercQuip:
    torch.set_num_threads(1)
    return LercQuip(find_models(str(published.folder))["lerc_quip"], torch.device("cpu"))


def test_it_has_the_logit_of_its_model(published, quip):
    ids = quip.encode(SHORT)
    with torch.no_grad():
        expected = published.lerc_quip(input_ids=torch.tensor([ids])).logits
    assert quip.score([ids]) == pytest.approx(expected[0].tolist(), rel=1e-5)


def test_one_text_with_plain_tags_whose_source_is_cut(quip):
    text = "Who left? <q> Ann Smith <r> The judge <c> The court in Leeds jailed Ann."
    assert quip.encode(SHORT) == quip.tokenizer(text)["input_ids"]
    long = Comparison(SHORT.question, SHORT.answer, SHORT.prediction, "court " * 900)
    ids, short = quip.encode(long), quip.encode(SHORT)
    assert len(ids) == 512
    assert ids[-1] == quip.tokenizer.eos_token_id
    start = len(quip.tokenizer("Who left? <q> Ann Smith <r> The judge <c>")["input_ids"]) - 1
    assert ids[:start] == short[:start]


def test_padding_changes_no_score(quip):
    others = [
        Comparison("When?", "Monday", "on Monday", "court " * count) for count in (1, 40, 200)
    ]
    batch = [quip.encode(item) for item in [SHORT, *others]]
    single = [quip.score([item])[0] for item in batch]
    assert quip.score(batch) == pytest.approx(single, rel=1e-4, abs=1e-5)
    assert len(set(single)) == 4
