"""Search against recorded results of transformers 4.55.4 and the installed `generate`."""

import itertools
import json
from pathlib import Path

import pytest
import torch
from tiny_models import build_model, build_sources, set_end_tokens

from brido.search import SearchSettings, beam_search, diverse_beam_search
from brido.search import beams as beams_module
from brido.utils.errors import BridoError

FIXTURES = Path(__file__).parent / "fixtures"
RECORDED = json.loads((FIXTURES / "search_4_55_4.json").read_text(encoding="utf-8"))
SEVERAL_ENDS = json.loads((FIXTURES / "several_ends_4_55_4.json").read_text(encoding="utf-8"))


def name_of(case):
    settings = case["settings"]
    return f"{case['family']}-{settings['num_beams']}-{settings['num_beam_groups']}-{case['seed']}"


def assert_same_scores(scores, expected):
    """But for roundings: they are sums of float32, which differ between processors by units in
    the last place of the terms, so by more than one of a sum near zero."""
    torch.testing.assert_close(scores, expected, rtol=1e-6, atol=3e-6)


def test_the_recorded_cases_cover_what_they_should():
    seen = {
        (case["family"], case["settings"]["early_stopping"], case["forced_tokens"])
        for case in RECORDED
    }
    assert len(RECORDED) >= 60
    assert seen == set(
        itertools.product(["bart", "pegasus"], [True, False, "never"], [True, False])
    )
    shapes = {(c["settings"]["num_beams"], c["settings"]["num_beam_groups"]) for c in RECORDED}
    assert {(4, 2), (16, 16), (32, 4), (32, 32)} <= shapes
    assert any(c["settings"]["num_return_sequences"] < c["settings"]["num_beams"] for c in RECORDED)
    assert {c["padded"] for c in RECORDED} == {True, False}


def test_the_cases_of_several_ends_use_them():
    ended = [
        case["ends"][0] in {token for row in case["sequences"] for token in row[1:]}
        for case in SEVERAL_ENDS
    ]
    assert sum(ended) >= 16
    assert {case["repetition_penalty"] for case in SEVERAL_ENDS} == {1.0, 1.2, 0.7}


@pytest.mark.parametrize("case", RECORDED + SEVERAL_ENDS, ids=name_of)
def test_diverse_beam_search_equals_transformers_4_55(case):
    model = build_model(case["family"], case["seed"], case["end_bias"], case["forced_tokens"])
    set_end_tokens(model, case)
    source, mask = build_sources(
        case["family"], case["seed"], case["documents"], case["source_length"], case["padded"]
    )
    with torch.no_grad():
        logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=source[:, :3])
    assert float(logits.logits.square().mean()) == pytest.approx(case["check"], rel=1e-9)

    result = diverse_beam_search(model, source, mask, SearchSettings(**case["settings"]))

    expected = torch.tensor(case["sequences"]).view(*result.scores.shape, -1)
    assert torch.equal(result.sequences, expected)
    expected_scores = torch.tensor(case["scores"]).view_as(result.scores)
    assert_same_scores(result.scores, expected_scores)


def padded_behind_the_end(sequences, model):
    """`generate` of transformers 5 fills up with the end token where the pad token is number 0."""
    settings = model.generation_config
    ended = (sequences[:, 1:] == settings.eos_token_id).cumsum(1)
    behind = torch.nn.functional.pad(ended, (2, 0))[:, :-1] > 0
    return sequences.masked_fill(behind, settings.pad_token_id)


PLAIN = list(
    itertools.product(
        ["bart", "mbart", "marian", "pegasus", "t5"], [2, 5], [True, False, "never"], [False, True]
    )
)


@pytest.mark.parametrize("number", range(len(PLAIN)))
@torch.no_grad()
def test_plain_beam_search_equals_the_installed_transformers(number):
    family, beams, stopping, forced = PLAIN[number]
    model = build_model(family, number, [2.0, 4.0, 0.0][number % 3], forced, attention="sdpa")
    source, mask = build_sources(family, number, documents=3, length=8, padded=number % 2 == 0)
    settings = SearchSettings(
        num_beams=beams,
        num_return_sequences=beams - number % 2,
        length_penalty=[1.0, 2.0, 0.0, -1.0][number % 4],
        min_length=[0, 6][number % 2],
        max_length=[10, 16][number % 3 // 2],
        no_repeat_ngram_size=[0, 2, 3][number % 3],
        early_stopping=stopping,
    )
    expected = model.generate(
        input_ids=source,
        attention_mask=mask,
        return_dict_in_generate=True,
        output_scores=True,
        do_sample=False,
        **settings.model_dump(exclude={"count_prompt"})
        | {"num_beam_groups": None, "diversity_penalty": None},
    )
    result = beam_search(model, source, mask, settings)
    sequences = padded_behind_the_end(expected.sequences, model)
    assert torch.equal(result.sequences.flatten(0, 1), sequences)
    scores = expected.sequences_scores.view_as(result.scores)
    assert_same_scores(result.scores, scores)


@pytest.mark.parametrize("family", ["bart", "marian", "pegasus", "t5"])
@pytest.mark.parametrize("forced", [False, True])
@torch.no_grad()
def test_greedy_search_equals_the_installed_transformers(family, forced):
    for seed, ngram in [(0, 0), (1, 2)]:
        model = build_model(family, seed, 3.0, forced, attention="sdpa")
        source, mask = build_sources(family, seed, documents=5, length=8, padded=True)
        settings = SearchSettings(max_length=14, min_length=4, no_repeat_ngram_size=ngram)
        expected = model.generate(
            input_ids=source,
            attention_mask=mask,
            do_sample=False,
            max_length=14,
            min_length=4,
            no_repeat_ngram_size=ngram,
        )
        result = beam_search(model, source, mask, settings)
        assert torch.equal(result.sequences[:, 0], expected)


def one_case(**changes):
    settings = {"num_beams": 6, "num_beam_groups": 3, "diversity_penalty": 0.7, "max_length": 14}
    return SearchSettings(**settings | changes)


@pytest.mark.parametrize("groups", [1, 3, 6])
def test_a_document_alone_gives_what_it_gives_in_a_batch(groups):
    model = build_model("bart", 11, 3.0)
    source, mask = build_sources("bart", 11, documents=6, length=9, padded=True)
    settings = one_case(num_beam_groups=groups)
    together = diverse_beam_search(model, source, mask, settings)
    for place in range(6):
        length = int(mask[place].sum())
        alone = diverse_beam_search(
            model, source[place : place + 1, :length], mask[place : place + 1, :length], settings
        )
        wanted = together.sequences[place, :, : alone.sequences.shape[2]]
        assert torch.equal(alone.sequences[0], wanted)
        assert_same_scores(alone.scores[0], together.scores[place])


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_finished_documents_may_stay_in_the_batch(groups, monkeypatch):
    """On accelerators finished documents are looked for rarely; results do not change."""
    model = build_model("bart", 5, 4.0)
    source, mask = build_sources("bart", 5, documents=5, length=9, padded=True)
    settings = one_case(num_beams=8, num_beam_groups=groups, early_stopping=True)
    expected = diverse_beam_search(model, source, mask, settings)
    monkeypatch.setattr(beams_module.Search, "_drop_finished", lambda self, length: True)
    result = diverse_beam_search(model, source, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert torch.equal(result.scores, expected.scores)


@pytest.mark.parametrize(("beams", "groups"), [(4, 1), (4, 2), (4, 4)])
def test_an_unknown_family_finds_the_same_without_sharing(beams, groups, monkeypatch):
    model = build_model("bart", 8, 3.0)
    source, mask = build_sources("bart", 8, documents=3, length=9, padded=True)
    settings = one_case(num_beams=beams, num_beam_groups=groups)
    expected = diverse_beam_search(model, source, mask, settings)
    monkeypatch.setattr("brido.models.family._FAMILIES", {})
    monkeypatch.setattr(type(model.config), "model_type", "another")
    with pytest.warns(UserWarning, match="'another' is not one of"):
        result = diverse_beam_search(model, source, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)


def test_results_can_be_used_in_training():
    model = build_model("bart", 8, 3.0)
    source, mask = build_sources("bart", 8, documents=2, length=6, padded=False)
    result = beam_search(model, source, mask, SearchSettings(num_beams=2, max_length=6))
    loss = model(
        input_ids=source, attention_mask=mask, labels=result.sequences[:, 0].contiguous()
    ).loss
    loss.backward()
    assert model.model.shared.weight.grad.abs().sum() > 0


def test_all_problems_of_the_settings_are_named_at_once():
    with pytest.raises(BridoError) as error:
        SearchSettings(
            num_beams=4,
            num_beam_groups=3,
            num_return_sequences=9,
            min_length=9,
            max_length=8,
            diversity_penalty=-1.0,
            early_stopping="sometimes",
        )
    for part in (
        "num_beam_groups (3) must divide num_beams (4)",
        "num_return_sequences (9) is more than num_beams (4)",
        "min_length (9) is more than max_length (8)",
        "diversity_penalty (-1.0)",
        "'sometimes'",
    ):
        assert part in str(error.value)


def test_groups_are_no_plain_beam_search():
    with pytest.raises(BridoError, match="use diverse_beam_search"):
        beam_search(None, None, None, SearchSettings(num_beams=4, num_beam_groups=2))


def test_more_beams_than_the_vocabulary_has_tokens_are_refused():
    model = build_model("bart", 0)  # 61 tokens
    source, mask = build_sources("bart", 0, documents=1, length=4, padded=False)
    with pytest.raises(BridoError, match="62 beams a group are more than .* 61 tokens"):
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
    for part in ("encoder_repetition_penalty = 1.5", "pad_token_id", "bad_words_ids holds [3, 4]"):
        assert part in str(error.value)


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


@torch.no_grad()
def test_single_banned_words_are_banned_as_in_transformers():
    model = build_model("marian", 3, 2.0)
    source, mask = build_sources("marian", 3, documents=3, length=6, padded=True)
    free = beam_search(model, source, mask, SearchSettings(num_beams=3))
    banned = int(free.sequences[0, 0, 2])
    model.generation_config.bad_words_ids = [[banned]]
    result = beam_search(model, source, mask, SearchSettings(num_beams=3))
    expected = model.generate(
        input_ids=source, attention_mask=mask, num_beams=3, num_return_sequences=3, max_length=20
    )
    assert not (result.sequences == banned).any()
    assert torch.equal(result.sequences.flatten(0, 1), expected)


@torch.no_grad()
@pytest.mark.parametrize("ends", [[2, 7], [7, 2, 30]])
@pytest.mark.parametrize(("beams", "stopping"), [(1, False), (2, True), (5, False), (5, "never")])
def test_several_end_tokens_end_as_in_the_installed_transformers(beams, stopping, ends):
    for seed in range(3):
        model = build_model("bart", seed, 1.0, attention="sdpa")
        model.final_logits_bias[0, 7] += 1.5
        model.generation_config.eos_token_id = ends
        source, mask = build_sources("bart", seed, documents=4, length=8, padded=True)
        settings = SearchSettings(
            num_beams=beams,
            max_length=14,
            min_length=[0, 5, 0][seed],
            no_repeat_ngram_size=[0, 0, 2][seed],
            length_penalty=[1.0, 2.0, 0.0][seed],
            early_stopping=stopping,
        )
        expected = model.generate(
            input_ids=source,
            attention_mask=mask,
            do_sample=False,
            **settings.model_dump(exclude={"num_beam_groups", "diversity_penalty", "count_prompt"})
            | {"num_return_sequences": beams},
        )
        result = beam_search(model, source, mask, settings)
        assert torch.equal(result.sequences.flatten(0, 1), expected)
        assert set(ends) & set(expected.flatten().tolist())


@torch.no_grad()
@pytest.mark.parametrize("penalty", [0.3, 3.0])
@pytest.mark.parametrize("beams", [1, 4])
def test_the_repetition_penalty_is_that_of_the_installed_transformers(beams, penalty):
    changed = False
    for seed in range(3):
        model = build_model("bart", seed, 2.0, forced_tokens=seed == 1, attention="sdpa")
        source, mask = build_sources("bart", seed, documents=4, length=8, padded=True)
        settings = SearchSettings(num_beams=beams, max_length=14, min_length=[0, 5, 8][seed])
        free = beam_search(model, source, mask, settings).sequences
        model.generation_config.repetition_penalty = penalty
        expected = model.generate(
            input_ids=source,
            attention_mask=mask,
            do_sample=False,
            max_length=14,
            min_length=settings.min_length,
            num_beams=beams,
            num_return_sequences=beams,
        )
        result = beam_search(model, source, mask, settings)
        assert torch.equal(result.sequences.flatten(0, 1), expected)
        changed |= result.sequences.shape != free.shape or not torch.equal(result.sequences, free)
    assert changed
