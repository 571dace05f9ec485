"""Natural mistakes with searches and likelihoods, on tiny models of two families."""

from functools import partial

import numpy as np
import pytest
import torch
from tiny_decoders import build_decoder, build_prompts
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
        # The mask that is added to attention's scores, and the numbers of packed texts.
        (lambda ids, mask: (ids, mask.float().log()), "attention_mask must be 1 for tokens"),
        (lambda ids, mask: (ids, mask * 2), "attention_mask must be 1 for tokens"),
        (lambda ids, mask: (ids.float(), mask), "input_ids must hold whole numbers"),
        (
            lambda ids, mask: (ids + 9999, mask),
            "holds tokens from .* are they of another tokenizer",
        ),
        (lambda ids, mask: (ids - 9999, mask), "holds tokens from -"),
        (lambda ids, mask: (ids.flip(1), mask.flip(1)), "padding_side = 'right'"),
        (lambda ids, mask: ("the cat", mask), "input_ids must be a tensor"),
        (lambda ids, mask: ([[1, 2], [3]], mask), "lists of equal lengths"),
        (lambda ids, mask: (ids[:0], mask[:0]), "must both be"),
        (lambda ids, mask: (ids.repeat(1, 20), mask.repeat(1, 20)), "120 tokens .* 64 positions"),
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
    with pytest.raises(ArgumentError, match="length_penalty must be a number"):
        candidate_log_likelihood(bart, ids, mask, [[[2, 5]], [[2, 6]]], float("nan"))
    with pytest.raises(ArgumentError, match="candidate_ids must hold whole numbers"):
        candidate_log_likelihood(bart, ids, mask, np.zeros((2, 1, 3)), 1.0)
    bart.train()
    try:
        with pytest.raises(ArgumentError, match=r"call model\.eval\(\) first"):
            beam_search(bart, ids, mask, BEAMS)
    finally:
        bart.eval()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"candidate_ids": torch.zeros(2, 0, 3, dtype=torch.long)}, "at least one candidate"),
        ({"candidate_ids": [[[2, 5, 2]]]}, "as many documents as input_ids, 2"),
        ({"candidate_ids": torch.zeros(2, 1, 0, dtype=torch.long)}, "lengths|tokens"),
        ({"candidate_ids": torch.full((2, 1, 70), 2), "lengths": [[69], [3]]}, "64 positions"),
        ({"lengths": [[1.0], [2.0]]}, "lengths must hold whole numbers"),
        ({"lengths": [[True], [True]]}, "lengths must hold whole numbers"),
        ({"lengths": [1, 2]}, "lengths"),
        ({"lengths": [[1], [3]]}, "count 1 to 2 tokens"),
        ({"lengths": [[1], [0]]}, "count 1 to 2 tokens"),
        ({"candidate_ids": [[[2, 5, 2], [0, 5, 2]]] * 2}, "same for all candidates"),
        ({"lengths": "two"}, "lengths must be a tensor"),
        # A tokenizer's own output, without the decoder's start token.
        ({"candidate_ids": [[[5, 6, 2]], [[6, 7, 2]]]}, r"starts from \(2\), not 5"),
    ],
)
def test_candidates_that_cannot_be_meant_are_refused(bart, changes, named):
    given = {"candidate_ids": torch.tensor([[[2, 5, 2]], [[2, 6, 2]]]), "length_penalty": 1.0}
    with pytest.raises(ArgumentError, match=named):
        candidate_log_likelihood(bart, *sources(), **given | changes)


def test_prompt_and_candidates_must_fit_into_the_positions():
    model = build_decoder("gpt2", 0)
    prompts, mask = build_prompts(0, documents=2, length=40, padded=False)
    texts = torch.cat([prompts[:, None, -1:], torch.full((2, 1, 25), 5)], 2)
    assert candidate_log_likelihood(model, prompts, mask, texts, 1.0).shape == (2, 1)
    texts = torch.cat([prompts[:, None, -1:], torch.full((2, 1, 26), 5)], 2)
    with pytest.raises(ArgumentError, match="64 positions"):
        candidate_log_likelihood(model, prompts, mask, texts, 1.0)
    with pytest.raises(ArgumentError, match="80 tokens .* 64 positions"):
        beam_search(model, prompts.repeat(1, 2), mask.repeat(1, 2), BEAMS)
    # Pads take no positions from prompts.
    padded = [torch.nn.functional.pad(part, (30, 0)) for part in (prompts, mask)]
    assert beam_search(model, *padded, BEAMS).scores.isfinite().all()


def test_one_text_is_no_list_of_documents(bart):
    language = LanguageModel(bart, word_tokenizer(), ReadingSettings(max_source_tokens=8))
    with pytest.raises(ArgumentError, match="documents must be a list of texts, not 'the cat'"):
        language.read("the cat")
    with pytest.raises(ArgumentError, match=r"texts\[0\] must be a list of texts, not 'the cat'"):
        language.write(["the cat"], None, 8)
