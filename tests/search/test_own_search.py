"""The search settings in use: given ones, the checkpoint's, transformers' defaults."""

import pytest
import torch
from tiny_models import build_model, build_sources

from brido.search import SearchSettings, beam_search
from brido.search.own_search import own_search


def test_given_settings_go_before_the_checkpoints_and_these_before_the_defaults():
    config = {"num_beams": 4, "length_penalty": 2.0, "min_length": 5, "pad_token_id": 1}
    overrides = {"num_beams": 2, "min_length": None, "early_stopping": False}
    assert own_search(config, overrides) == {
        "num_beams": 2,
        "length_penalty": 2.0,
        "min_length": 5,
        "max_length": 20,
        "no_repeat_ngram_size": 0,
        "early_stopping": False,
    }


def test_new_tokens_go_before_lengths_but_not_before_what_is_given():
    config = {"max_length": 30, "max_new_tokens": 9, "min_length": 1, "min_new_tokens": 4}
    found = own_search(config)
    assert (found["min_length"], found["max_length"]) == (5, 10)
    found = own_search(config, {"max_length": 12, "min_length": 2})
    assert (found["min_length"], found["max_length"]) == (2, 12)


@pytest.mark.parametrize("end_bias", [0.0, 6.0], ids=["too long", "too short"])
def test_new_tokens_are_counted_as_transformers_counts_them(end_bias):
    config = {"num_beams": 3, "min_new_tokens": 4, "max_new_tokens": 7, "max_length": 30}
    model = build_model("bart", seed=0, end_bias=end_bias)
    source, mask = build_sources("bart", 0, 3, 8, padded=False)
    expected = model.generate(source, attention_mask=mask, **config, do_sample=False)
    settings = SearchSettings(**own_search(config), num_return_sequences=1)
    found = beam_search(model, source, mask, settings).sequences[:, 0]
    assert torch.equal(found, expected)
    assert found.shape[1] == (8 if end_bias == 0 else 6)
