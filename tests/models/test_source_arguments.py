"""Natural mistakes with searches and likelihoods, on tiny models of two families."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tiny_models import build_model, build_sources, word_tokenizer

from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search import SamplingSettings, SearchSettings, beam_search, diverse_beam_search, sample
from brido.utils.errors import ArgumentError

BEAMS = SearchSettings(num_beams=2, max_length=6)
GREEDY = SearchSettings(max_length=6)
SAMPLES = SamplingSettings(num_return_sequences=2, max_length=6)


@pytest.fixture(scope="module")
def bart():
    return build_model("bart", 0)


def sources(family="bart"):
    return build_sources(family, 0, documents=2, length=6, padded=True)


def searches(model, ids, mask):
    for settings in (BEAMS, GREEDY):
        yield partial(beam_search, model, ids, mask, settings)
    groups = BEAMS.model_copy(update={"num_beam_groups": 2})
    yield lambda: diverse_beam_search(model, ids, mask, groups)
    yield lambda: sample(model, ids, mask, SAMPLES, torch.zeros(2, 2, 6))
    texts = torch.tensor([[[2, 5, 2]], [[2, 6, 2]]])
    yield lambda: candidate_log_likelihood(model, ids, mask, texts, 1.0)


def outcome(call):
    found = call()
    return found.sequences if hasattr(found, "sequences") else found


def test_arrays_lists_and_other_whole_numbers_are_taken(bart):
    ids, mask = sources()
    given = [outcome(call) for call in searches(bart, ids, mask)]
    for same in (
        (ids.numpy(), mask.numpy()),
        (ids.tolist(), mask.bool()),
        (ids.int(), mask.to(torch.uint8)),
    ):
        for call, expected in zip(searches(bart, *same), given, strict=True):
            assert torch.equal(outcome(call), expected)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda ids, mask: (ids[0], mask[0]), r"not \[6\] and \[6\]; one document is input_ids"),
        (lambda ids, mask: (ids, None), "attention_mask is missing"),
        (lambda ids, mask: (ids, mask[:, 1:]), "must both be"),
        (lambda ids, mask: (ids.float(), mask), "input_ids must hold the whole numbers of tokens"),
        (
            lambda ids, mask: (ids + 9999, mask),
            "holds tokens from .* are they of another tokenizer",
        ),
        (lambda ids, mask: (ids - 9999, mask), "holds tokens from -"),
        (lambda ids, mask: (ids.flip(1), mask.flip(1)), "padding_side = 'right'"),
        (lambda ids, mask: ("the cat", mask), "input_ids must be a tensor"),
        (lambda ids, mask: ([[1, 2], [3]], mask), "lists of equal lengths"),
        (lambda ids, mask: (ids[:0], mask[:0]), "must both be"),
    ],
)
def test_sources_that_cannot_be_meant_are_refused(bart, change, named):
    for call in searches(bart, *change(*sources())):
        with pytest.raises(ArgumentError, match=named):
            call()


def test_relative_positions_may_be_padded_on_the_left():
    model = build_model("t5", 0)
    ids, mask = sources("t5")
    left = [
        torch.stack([torch.cat([r[m == 0], r[m == 1]]) for r, m in zip(x, mask, strict=True)])
        for x in (ids, mask)
    ]
    right = beam_search(model, ids, mask, BEAMS)
    assert torch.equal(beam_search(model, *left, BEAMS).sequences, right.sequences)


def test_other_settings_modes_and_models_are_refused(bart):
    ids, mask = sources()
    with pytest.raises(ArgumentError, match=r"settings must be SearchSettings\(\.\.\.\), not \{"):
        beam_search(bart, ids, mask, {"num_beams": 2})
    with pytest.raises(ArgumentError, match="settings must be SearchSettings"):
        diverse_beam_search(bart, ids, mask, SAMPLES)
    with pytest.raises(ArgumentError, match="settings must be SamplingSettings"):
        sample(bart, ids, mask, BEAMS, torch.zeros(2, 2, 6))
    with pytest.raises(ArgumentError, match=r"\[2, 2, 6\], not \[2, 2, 5\]"):
        sample(bart, ids, mask, SAMPLES, torch.zeros(2, 2, 5))
    with pytest.raises(ArgumentError, match="its .model is one"):
        beam_search(SimpleNamespace(model=bart), ids, mask, BEAMS)
    with pytest.raises(ArgumentError, match="length_penalty must be a number"):
        candidate_log_likelihood(bart, ids, mask, [[[2, 5]], [[2, 6]]], float("nan"))
    with pytest.raises(ArgumentError, match="candidate_ids must hold the whole numbers"):
        candidate_log_likelihood(bart, ids, mask, np.zeros((2, 1, 3)), 1.0)
    bart.train()
    try:
        with pytest.raises(ArgumentError, match=r"call model\.eval\(\) first"):
            beam_search(bart, ids, mask, BEAMS)
    finally:
        bart.eval()


def test_one_text_is_no_list_of_documents(bart):
    language = LanguageModel(bart, word_tokenizer(), ReadingSettings(max_source_tokens=8))
    with pytest.raises(ArgumentError, match="documents must be a list of texts, not 'the cat'"):
        language.read("the cat")
    with pytest.raises(ArgumentError, match=r"texts\[0\] must be a list of texts, not 'the cat'"):
        language.write(["the cat"], None, 8)
