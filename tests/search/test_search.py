"""Search with both kinds of models: recorded results of transformers 4.55.4, the installed
`generate`, and what must not depend on the batch."""

import itertools

import pytest
import recorded_cases
import tiny_decoders
import tiny_models
import torch
from tiny_decoders import build_decoder, build_prompts
from tiny_models import build_model, build_sources

from brido.search import SearchSettings, beam_search, diverse_beam_search
from brido.search import search as search_module

RECORDED = [case for name in recorded_cases.NAMES for case in recorded_cases.cases(name)]
FAMILIES = [*tiny_models.FAMILIES, *tiny_decoders.FAMILIES]
STOPPING = [True, False, "never"]


def is_decoder(family):
    return family in tiny_decoders.FAMILIES


def build(family, seed, end_bias, ends=(), documents=3, length=8, padded=True, forced=False):
    """A model of either kind with sources or prompts and their mask."""
    if is_decoder(family):
        model = build_decoder(family, seed, end_bias, tuple(ends) or (2,))
        return model, *build_prompts(seed, documents, length, padded)
    model = build_model(family, seed, end_bias, forced, ends)
    return model, *build_sources(family, seed, documents, length, padded)


def generated(model, ids, mask, settings, **more):
    """What the installed `generate` writes (padded as ours), and everything else it returns."""
    left_out = {"count_prompt", "num_beam_groups", "diversity_penalty"}
    given = settings.model_dump(exclude=left_out) | {"num_return_sequences": settings.returned}
    start = 0
    if not model.config.is_encoder_decoder:
        start = ids.shape[1]
        for name in ("min", "max"):
            given[f"{name}_new_tokens"] = given.pop(f"{name}_length")
    if settings.num_beams == 1:
        given |= {"early_stopping": None, "length_penalty": None}
    found = model.generate(
        input_ids=ids,
        attention_mask=mask,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **given | more,
    )
    return found.sequences[:, start:], found


def padded(sequences, model):
    """`generate` of transformers 5 fills up with an end where the pad is token 0."""
    start = int(model.config.is_encoder_decoder)
    ends = torch.tensor(model.generation_config.eos_token_id).flatten()
    ended = torch.isin(sequences[:, start:], ends).cumsum(1)
    behind = torch.nn.functional.pad(ended, (start + 1, 0))[:, :-1] > 0
    return sequences.masked_fill(behind, model.generation_config.pad_token_id)


def assert_same_scores(scores, expected):
    """But for roundings: they are sums of float32, which differ between processors by units in
    the last place of the terms, so by more than one of a sum near zero."""
    torch.testing.assert_close(scores, expected, rtol=1e-6, atol=3e-6)


def name_of(case):
    settings = case["settings"]
    return f"{case['family']}-{settings['num_beams']}-{settings['num_beam_groups']}-{case['seed']}"


@pytest.mark.parametrize("case", RECORDED, ids=name_of)
def test_diverse_beam_search_equals_transformers_4_55(case):
    model, ids, mask, check = recorded_cases.rebuilt(case)
    assert check == pytest.approx(case["check"], rel=1e-6 if is_decoder(case["family"]) else 1e-9)

    result = diverse_beam_search(model, ids, mask, SearchSettings(**case["settings"]))

    expected = torch.tensor(case["sequences"]).view(*result.scores.shape, -1)
    assert torch.equal(result.sequences, expected)
    assert_same_scores(result.scores, torch.tensor(case["scores"]).view_as(result.scores))


PLAIN = [
    (number, *case)
    for kinds, forced in ((tiny_models.FAMILIES, [False, True]), (tiny_decoders.FAMILIES, [False]))
    for number, case in enumerate(itertools.product(kinds, [2, 5], STOPPING, forced))
]


@pytest.mark.parametrize(("number", "family", "beams", "stopping", "forced"), PLAIN)
@torch.no_grad()
def test_plain_beam_search_equals_the_installed_transformers(
    number, family, beams, stopping, forced
):
    bias, ends = [2.0, 4.0, 0.0][number % 3], [(), (2, 7), (30, 2, 5)][number % 3]
    model, ids, mask = build(family, number, bias, ends, padded=number % 4 > 0, forced=forced)
    model.generation_config.repetition_penalty = [1.0, 1.2, 0.7, 3.0][number % 4]
    model.generation_config.bad_words_ids = [[9]]
    settings = SearchSettings(
        num_beams=beams,
        num_return_sequences=beams - number % 2,
        length_penalty=[1.0, 2.0, 0.0, -1.0][number % 4],
        min_length=[0, 6][number % 2],
        max_length=[10, 16][number % 3 // 2],
        no_repeat_ngram_size=[0, 2, 3][number % 3],
        early_stopping=stopping,
    )
    written, expected = generated(model, ids, mask, settings)
    result = beam_search(model, ids, mask, settings)
    assert torch.equal(result.sequences.flatten(0, 1), padded(written, model))
    assert_same_scores(result.scores, expected.sequences_scores.view_as(result.scores))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("forced", [False, True])
@torch.no_grad()
def test_greedy_search_equals_the_installed_transformers(family, forced):
    for seed, ngram, ends in [(0, 0, ()), (1, 2, (7, 2, 30))]:
        model, ids, mask = build(family, seed, 3.0, ends, documents=5, forced=forced)
        model.generation_config.repetition_penalty = 1.3 if forced else 1.0
        settings = SearchSettings(max_length=14, min_length=4, no_repeat_ngram_size=ngram)
        written, _ = generated(model, ids, mask, settings)
        result = beam_search(model, ids, mask, settings)
        assert torch.equal(result.sequences[:, 0], padded(written, model))


@pytest.mark.parametrize("beams", [1, 3])
@torch.no_grad()
def test_no_first_token_is_forced_behind_a_prompt_and_only_suppressed_ends_are_banned(beams):
    model, ids, mask = build("llama", 1, 3.0, ends=(7, 2))
    model.generation_config.bad_words_ids = [[2], [9]]
    model.generation_config.forced_bos_token_id = 5
    model.generation_config.suppress_tokens += [7]
    settings = SearchSettings(num_beams=beams, max_length=14)
    written, _ = generated(model, ids, mask, settings)
    result = beam_search(model, ids, mask, settings)
    assert torch.equal(result.sequences.flatten(0, 1), padded(written, model))
    assert (result.sequences == 2).any()
    assert not (result.sequences == 7).any()


def some_groups(**changes):
    settings = {"num_beams": 6, "num_beam_groups": 3, "diversity_penalty": 0.7, "max_length": 14}
    return SearchSettings(**settings | {"no_repeat_ngram_size": 2} | changes)


@pytest.mark.parametrize(
    ("family", "side"),
    [("bart", "right"), *itertools.product(["gemma3", "gpt2"], ["left", "right"])],
)
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_a_document_alone_gives_what_it_gives_in_a_batch(family, side, groups):
    model, ids, mask = build(family, 11, 4.0, documents=6, length=9)
    if is_decoder(family):
        ids, mask = build_prompts(11, 6, 9, padded=True, side=side)
        model.generation_config.repetition_penalty = 1.2
        model.generation_config.suppress_tokens = None
        model.generation_config.pad_token_id = 5  # may be written, and counts in no other prompt
    settings = some_groups(num_beam_groups=groups)
    together = diverse_beam_search(model, ids, mask, settings)
    for place in range(6):
        own = ids[place][mask[place] > 0][None]
        alone = diverse_beam_search(model, own, torch.ones_like(own), settings)
        width = alone.sequences.shape[2]
        assert torch.equal(alone.sequences[0], together.sequences[place, :, :width])
        pads = together.sequences[place, :, width:]
        assert (pads == model.generation_config.pad_token_id).all()
        assert_same_scores(alone.scores[0], together.scores[place])


@pytest.mark.parametrize("family", ["bart", "llama"])
@pytest.mark.parametrize("groups", [1, 2, 8])
def test_finished_documents_may_stay_in_the_batch(family, groups, monkeypatch):
    """On accelerators finished documents are looked for rarely; results do not change."""
    model, ids, mask = build(family, 5, 5.0, documents=5, length=9)
    changes = {"num_beams": 8, "num_beam_groups": groups, "max_length": 30}
    settings = some_groups(early_stopping=True, **changes)
    expected = diverse_beam_search(model, ids, mask, settings)
    monkeypatch.setattr(search_module.Search, "_drop_finished", lambda self, length: True)
    result = diverse_beam_search(model, ids, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert torch.equal(result.scores, expected.scores)
    if is_decoder(family):
        lengths = (expected.sequences != model.generation_config.pad_token_id).sum(2).amax(1)
        assert len(set(lengths.tolist())) > 1


@pytest.mark.gpu
@pytest.mark.parametrize("family", tiny_decoders.FAMILIES)
def test_on_a_gpu_a_search_finds_what_it_finds_on_a_processor(family):
    model, prompts, mask = build(family, 6, 3.0, (2, 7), documents=4, length=9)
    model.generation_config.repetition_penalty = 1.2
    expected = diverse_beam_search(model, prompts, mask, some_groups())
    found = diverse_beam_search(model.cuda(), prompts.cuda(), mask.cuda(), some_groups())
    assert torch.equal(found.sequences.cpu(), expected.sequences)
    half = diverse_beam_search(model.bfloat16(), prompts.cuda(), mask.cuda(), some_groups())
    assert half.scores.isfinite().all()
