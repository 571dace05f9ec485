"""The table of families and what follows from it."""

import warnings

import pytest
import torch
from tiny_models import build_model
from transformers import LEDConfig

from brido.errors import BridoError
from brido.models import family as families


def test_an_unknown_family_is_named_once_and_treated_carefully(monkeypatch):
    monkeypatch.setattr(families, "_warned", set())
    with pytest.warns(UserWarning, match="'led' is not one of bart"):
        family = families.family_of(LEDConfig())
    assert not family.shares_cross_attention
    assert not family.float16
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        families.family_of(LEDConfig())


def test_source_positions():
    assert families.source_positions(build_model("bart", seed=0).config) == 64
    assert families.source_positions(build_model("t5", seed=0).config) is None


@pytest.mark.parametrize(("family", "works"), [("bart", True), ("pegasus", False), ("t5", False)])
def test_float16_is_refused_where_it_overflows(family, works):
    model = build_model(family, seed=0, dtype=torch.float16)
    if works:
        families.check_dtype(model)
    else:
        with pytest.raises(BridoError, match=f"a {family} model cannot run in float16"):
            families.check_dtype(model)
    families.check_dtype(model.to(torch.bfloat16))


def test_precision_on_a_processor_is_float32():
    assert families.inference_dtype(torch.device("cpu")) == torch.float32
