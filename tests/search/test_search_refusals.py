"""What a search refuses: settings, models and generation settings that it cannot work with."""

import pytest
import torch
from tiny_models import build_model, build_sources

from brido.models.family import check_scores
from brido.search import SamplingSettings, SearchSettings, beam_search, diverse_beam_search
from brido.utils.errors import ArgumentError, BridoError


@pytest.mark.parametrize(
    ("kind", "settings", "named"),
    [
        (
            SearchSettings,
            {"num_beams": 4, "num_beam_groups": 3, "num_return_sequences": 9, "min_length": 21},
            ["groups (3) must divide num_beams (4)", "sequences (9) is more", "max_length (20)"],
        ),
        (
            SearchSettings,
            {"num_beams": 0, "diversity_penalty": -1.0, "early_stopping": "sometimes"},
            ["num_beams", "0", "diversity_penalty", "-1.0", "early_stopping", "'sometimes'"],
        ),
        (
            SamplingSettings,
            {"num_return_sequences": 0, "temperature": 0.0, "top_p": 1.5, "top_k": -1}
            | {"min_p": 1.0, "max_length": 1},
            ["num_return_sequences", "temperature", "top_p", "1.5", "top_k", "min_p", "max_length"],
        ),
    ],
)
def test_all_problems_of_the_settings_are_named_at_once(kind, settings, named):
    with pytest.raises(BridoError) as error:
        kind(**settings)
    for part in named:
        assert part in str(error.value)


def test_groups_are_no_plain_beam_search():
    with pytest.raises(ArgumentError, match="use diverse_beam_search"):
        beam_search(None, None, None, SearchSettings(num_beams=4, num_beam_groups=2))


def test_more_beams_than_the_vocabulary_has_tokens_are_refused():
    model = build_model("bart", 0)  # 61 tokens
    source, mask = build_sources("bart", 0, documents=1, length=4, padded=False)
    with pytest.raises(BridoError, match="62 beams a group .* 61 tokens"):
        diverse_beam_search(model, source, mask, SearchSettings(num_beams=124, num_beam_groups=2))
    fits = SearchSettings(num_beams=61, num_return_sequences=3, max_length=4)
    assert diverse_beam_search(model, source, mask, fits).sequences.shape[1] == 3


def test_what_a_model_asks_for_and_the_search_cannot_do_is_refused():
    model = build_model("bart", 0)
    source, mask = build_sources("bart", 0, documents=1, length=4, padded=False)
    model.generation_config.encoder_repetition_penalty = 1.5
    model.generation_config.pad_token_id = model.config.pad_token_id = None
    model.generation_config.bad_words_ids = [[3, 4]]
    with pytest.raises(BridoError) as error:
        beam_search(model, source, mask, SearchSettings(num_beams=2))
    for part in ("encoder_repetition_penalty = 1.5", "pad_token_id", "bad_words_ids = [[3, 4]]"):
        assert part in str(error.value)


def test_an_empty_list_asks_for_nothing():
    model = build_model("bart", 0)
    source, mask = build_sources("bart", 0, documents=1, length=4, padded=False)
    plain = beam_search(model, source, mask, SearchSettings(num_beams=2))
    model.generation_config.begin_suppress_tokens = []
    model.generation_config.sequence_bias = {}
    again = beam_search(model, source, mask, SearchSettings(num_beams=2))
    assert again.sequences.equal(plain.sequences)


@pytest.mark.parametrize("value", ["\x1b" * 200, [2, "2"], True, 2.0])
@pytest.mark.parametrize("name", ["eos_token_id", "pad_token_id", "forced_eos_token_id"])
def test_a_token_id_that_is_no_whole_number_is_refused_in_few_words(name, value):
    model = build_model("bart", 0)
    setattr(model.generation_config, name, value)
    source, mask = build_sources("bart", 0, documents=1, length=4, padded=False)
    with pytest.raises(BridoError, match=f"{name} = .*: token ids are whole numbers") as error:
        beam_search(model, source, mask, SearchSettings(num_beams=2))
    assert "\x1b" not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(("beams", "groups"), [(1, 1), (4, 1), (4, 4), (8, 2)])
def test_a_model_that_computes_nan_is_refused(beams, groups):
    model = build_model("bart", 0)
    next(model.get_decoder().layers[0].fc1.parameters()).data[0, 0] = torch.nan
    source, mask = build_sources("bart", 0, documents=2, length=4, padded=False)
    settings = SearchSettings(num_beams=beams, num_beam_groups=groups, max_length=8)
    with pytest.raises(BridoError, match="the bart model computes NaN: its weights are damaged"):
        diverse_beam_search(model, source, mask, settings)


@pytest.mark.parametrize(
    ("scores", "every", "any_of_them"),
    [
        ([[-1.0, -2.0], [-3.0, -4.0]], True, True),
        ([[-1.0, -torch.inf], [-3.0, -4.0]], False, True),
        ([[-torch.inf, -torch.inf], [-3.0, -4.0]], False, False),
        ([[-1.0, torch.nan], [-3.0, -4.0]], False, False),
    ],
)
def test_scores_are_finite_numbers_or_stand_for_a_text_that_was_not_written(
    scores, every, any_of_them
):
    model = build_model("bart", 0)
    for asked, right in ((True, every), (False, any_of_them)):
        if right:
            check_scores(model, torch.tensor(scores), every=asked)
        else:
            with pytest.raises(BridoError, match="the bart model computes"):
                check_scores(model, torch.tensor(scores), every=asked)
