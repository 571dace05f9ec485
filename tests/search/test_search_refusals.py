"""What a search refuses: settings, models, generation settings and guidance it cannot work with."""

import math

import pytest
import torch
from tiny_models import build_model, build_sources

from brido.search import SamplingSettings, SearchSettings, beam_search, diverse_beam_search, sample
from brido.search.guidance import Guidance
from brido.search.sampling import document_uniforms
from brido.utils.errors import BridoError

BART, PAIRS = build_model("bart", 0), SearchSettings(num_beams=2)  # it knows 61 tokens
IDS, MASK = build_sources("bart", 0, documents=2, length=4, padded=False)
OTHERS = torch.full((2, 2, 4), 5)


def groups(**settings):
    return diverse_beam_search(BART, IDS, MASK, SearchSettings(**settings))


def asked(**changes):
    """A search of a model whose generation_config asks for this."""
    model = build_model("bart", 0)
    model.config.pad_token_id = None
    for name, value in changes.items():
        setattr(model.generation_config, name, value)
    return beam_search(model, IDS, MASK, PAIRS)


def guided(**changes):
    return beam_search(BART, IDS, MASK, PAIRS, Guidance(OTHERS, OTHERS > 0)._replace(**changes))


def drawn(number):
    uniforms = document_uniforms(0, ["a", "b"], 1, 20)
    uniforms[0, 0, 3] = number
    return sample(BART, IDS, MASK, SamplingSettings(), uniforms)


CALLS = [
    (lambda: SearchSettings(num_beams=4, num_beam_groups=3, num_return_sequences=9, min_length=21),
     ["groups (3) must divide num_beams (4)", "sequences (9) is more", "max_length (20)"]),
    (lambda: SearchSettings(num_beams=0, diversity_penalty=-1.0, early_stopping="sometimes"),
     ["num_beams", "0", "diversity_penalty", "-1.0", "early_stopping", "'sometimes'"]),
    (lambda: SamplingSettings(num_return_sequences=0, temperature=0.0, top_p=1.5, top_k=-1,
                              min_p=1.0, max_length=1),
     ["num_return_sequences", "temperature", "top_p", "1.5", "top_k", "min_p", "max_length"]),
    (lambda: beam_search(None, None, None, SearchSettings(num_beams=4, num_beam_groups=2)),
     ["use diverse_beam_search"]),
    (lambda: groups(num_beams=124, num_beam_groups=2), ["62 beams a group", "61 tokens"]),
    (lambda: asked(encoder_repetition_penalty=1.5, pad_token_id=None, bad_words_ids=[[3, 4]]),
     ["encoder_repetition_penalty = 1.5", "pad_token_id", "bad_words_ids = [[3, 4]]"]),
    *(
        (lambda name=name, value=value: asked(**{name: value}), [f"{name} = ", "whole numbers"])
        for name in ("eos_token_id", "pad_token_id", "forced_eos_token_id")
        for value in ("\x1b" * 200, [2, "2"], True, 2.0)
    ),
    *((lambda number=number: drawn(number), ["uniforms"]) for number in (1.0, -0.5, math.nan)),
    *((lambda ids=ids: document_uniforms(3, ids, 4, 5), ["ids"]) for ids in ("ab", [1])),
    *(
        (lambda change=change: guided(**change), [f"guidance.{next(iter(change))}"])
        for change in (
            {"weight": -0.1}, {"weight": math.nan}, {"weight": "much"}, {"weight": 10**400},
            {"floor": 1.5}, {"floor": -(10**400)}, {"input_ids": [[[10**30]]] * 2},
            {"input_ids": OTHERS[:1]}, {"input_ids": OTHERS[:, :0]}, {"attention_mask": MASK},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "named"), CALLS)
def test_a_call(call, named):
    with pytest.raises(BridoError) as error:
        call()
    message = str(error.value)
    assert all(part in message for part in named)
    assert "\x1b" not in message
    assert len(message) < 900


@pytest.mark.parametrize(("beams", "number"), [(1, 1), (4, 1), (4, 4), (8, 2)])
def test_a_model_that_computes_nan(beams, number):
    model = build_model("bart", 0)
    next(model.get_decoder().layers[0].fc1.parameters()).data[0, 0] = torch.nan
    settings = SearchSettings(num_beams=beams, num_beam_groups=number, max_length=8)
    uniforms = document_uniforms(0, ["a", "b"], 1, 20)
    for call in (
        lambda: diverse_beam_search(model, IDS, MASK, settings),
        lambda: sample(model, IDS, MASK, SamplingSettings(), uniforms),
        lambda: sample(model, IDS, MASK, SamplingSettings(top_p=0.9), uniforms),
    ):
        with pytest.raises(BridoError, match="bart model computes NaN: its weights are damaged"):
            call()
