"""examples/group_beam_search as `custom_generate` of transformers, read without a network."""

from pathlib import Path

import pytest
import torch
import transformers.dynamic_module_utils as dynamic
from tiny_decoders import build_decoder, build_prompts
from tiny_models import build_model, build_sources

from brido.search import SearchSettings, diverse_beam_search

FOLDER = str(Path(__file__).parents[2] / "examples" / "group_beam_search")
BEAMS = {"num_beams": 8, "num_beam_groups": 4, "diversity_penalty": 0.5}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """transformers copies the code that it runs into a folder of its own."""
    monkeypatch.setattr(dynamic, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))


def asked(model, ids, mask, **more):
    custom = {"custom_generate": FOLDER, "trust_remote_code": True}
    return model.generate(input_ids=ids, attention_mask=mask, **custom, **BEAMS, **more)


def test_an_encoder_decoder_writes_what_our_search_writes():
    model = build_model("bart", 1, 0.5)
    ids, mask = build_sources("bart", 1, 3, 8, True)
    settings = SearchSettings(**BEAMS, num_return_sequences=8, max_length=10, early_stopping=True)
    expected = diverse_beam_search(model, ids, mask, settings)
    more = {"num_return_sequences": 8, "early_stopping": True}
    found = asked(model, ids, mask, max_length=10, return_dict_in_generate=True, **more)
    assert torch.equal(found.sequences, expected.sequences.flatten(0, 1))
    assert torch.equal(found.sequences_scores, expected.scores.flatten())
    assert torch.equal(asked(model, ids, mask, max_new_tokens=9, **more), found.sequences)


def test_a_decoder_only_model_keeps_its_prompt():
    model = build_decoder("llama", 1, 0.5)
    ids, mask = build_prompts(1, 3, 8, True)
    settings = SearchSettings(**BEAMS, num_return_sequences=2, max_length=9)
    expected = diverse_beam_search(model, ids, mask, settings)
    for length in ({"max_new_tokens": 9}, {"max_length": 17}):
        found = asked(model, ids, mask, num_return_sequences=2, **length)
        assert torch.equal(found[:, :8], ids.repeat_interleave(2, 0))
        assert torch.equal(found[:, 8:], expected.sequences.flatten(0, 1))


def test_transformers_asks_before_it_runs_code():
    model = build_decoder("llama", 1, 0.5)
    ids, mask = build_prompts(1, 1, 4, False)
    with pytest.raises(ValueError, match="trust_remote_code"):
        model.generate(ids, attention_mask=mask, custom_generate=FOLDER, trust_remote_code=False)
