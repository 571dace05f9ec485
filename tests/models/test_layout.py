"""Weights laid out by columns: the same model, other places in memory."""

import pytest
import torch
from tiny_models import build_model, build_sources

from brido.models.family import family_of
from brido.models.layout import columns_first
from brido.search import SearchSettings, diverse_beam_search

FAMILIES = ["bart", "mbart", "marian", "pegasus", "t5"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_laid_out_by_columns_is_the_same_model(family):
    model, other = build_model(family, 3, 2.0), build_model(family, 3, 2.0)
    columns_first(family_of(other.config).written_with(other))
    for (name, weight), same in zip(
        model.state_dict().items(), other.state_dict().values(), strict=True
    ):
        assert torch.equal(weight, same), name
    tied, also = (
        one.get_output_embeddings().weight is one.get_input_embeddings().weight
        for one in (model, other)
    )
    assert tied == also
    source, mask = build_sources(family, 3, documents=3, length=9, padded=True)
    settings = SearchSettings(num_beams=6, num_beam_groups=3, diversity_penalty=0.7, max_length=12)
    expected = diverse_beam_search(model, source, mask, settings)
    result = diverse_beam_search(other, source, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert torch.equal(result.scores, expected.scores)


def test_columns_are_odd_multiples_of_the_alignment_apart():
    model = build_model("bart", 3)
    columns_first(family_of(model.config).written_with(model))
    layer = model.get_decoder().layers[0]
    # 16, 24 and 61 outputs: 1, 2 and 4 pieces of 16, of which the even ones get one more.
    assert layer.fc2.weight.stride() == (1, 16)
    assert layer.fc1.weight.stride() == (1, 48)
    assert model.get_output_embeddings().weight.stride() == (1, 80)
    encoder = model.get_encoder().layers[0]
    assert encoder.fc1.weight.is_contiguous()
