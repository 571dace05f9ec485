"""f(S) of decoder-only models against one plain forward pass a candidate, in float64."""

import dataclasses

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_decoders import CLASSES, EOS, SHAPE, TOKENS, build_decoder, build_prompts
from torch import Tensor

from brido.likelihood import candidate_log_likelihood
from brido.likelihood.likelihood import sequence_statistics
from brido.models import family as families
from brido.models.decoder_only import last_tokens
from brido.models.sharing.shared_prefix import PackedStates, pack, visible
from brido.models.tokens import Sources

MORE = {
    "mistral": lambda: transformers.MistralConfig(**SHAPE, **TOKENS, sliding_window=5),
    "smollm3": lambda: transformers.SmolLM3Config(
        **SHAPE, **TOKENS, use_sliding_window=True, sliding_window=4, no_rope_layers=[1, 0],
        layer_types=["sliding_attention", "full_attention"],
    ),
    "olmo2": lambda: transformers.Olmo2Config(**SHAPE, **TOKENS),
    "unknown": lambda: transformers.StableLmConfig(**SHAPE, **TOKENS),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _float64_throughout(monkeypatch):
    """Norms and softmaxes of published models step down to float32 whatever the model's type is."""
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(Tensor, "float", Tensor.double)


def build(name: str, attention: str = "sdpa") -> transformers.PreTrainedModel:
    if name in CLASSES:
        return build_decoder(name, seed=1, attention=attention)
    torch.manual_seed(1)
    config = MORE[name]()
    config.initializer_range = 0.5
    return transformers.AutoModelForCausalLM.from_config(config).double().eval()


def candidates_of(
    ids: Tensor, mask: Tensor, seed: int, number: int, longest: int
) -> tuple[Tensor, Tensor]:
    """Random candidates [B, N, T] behind the prompts' last tokens, and their lengths [B, N]."""
    generator = torch.Generator().manual_seed(seed)
    shape = len(ids), number
    lengths = torch.randint(1, longest + 1, shape, generator=generator)
    texts = torch.randint(3, 61, (*shape, longest), generator=generator)
    last = last_tokens(Sources(ids, mask))[:, None, None]
    return torch.cat([last.expand(-1, number, -1), texts], 2), lengths


def plain(model, ids: Tensor, mask: Tensor, candidates: Tensor, lengths: Tensor) -> Tensor:
    """The sum of log p of every candidate, each in a forward pass of its own without padding."""
    sums = []
    for row, keep, texts, ends in zip(ids, mask, candidates, lengths, strict=True):
        prompt = row[keep.bool()]
        for text, end in zip(texts, ends, strict=True):
            whole = torch.cat([prompt, text[1 : 1 + end]])
            scores = model(input_ids=whole[None], use_cache=False).logits[0].log_softmax(-1)
            tokens = torch.arange(len(prompt), len(whole))
            sums.append(scores[tokens - 1, whole[tokens]].sum())
    return torch.stack(sums).view(len(ids), -1)


def gradients(model, values: Tensor) -> list[Tensor]:
    """The gradients of a weighted sum of values, parameter by parameter."""
    weights = torch.linspace(-1, 2, values.numel(), dtype=values.dtype).view_as(values)
    model.zero_grad()
    (weights * values).sum().backward()
    return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]


@pytest.mark.parametrize("name", [*CLASSES, *MORE])
def test_as_one_plain_forward_a_candidate(name):
    model = build(name)
    for side in ("left", "right"):
        ids, mask = build_prompts(2, documents=3, length=12, padded=True, side=side)
        candidates, lengths = candidates_of(ids, mask, 3, number=4, longest=7)
        expected = plain(model, ids, mask, candidates, lengths)
        found = candidate_log_likelihood(model, ids, mask, candidates, 0.0, lengths)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
        wanted = gradients(model, expected)
        for one, other in zip(gradients(model, found), wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", CLASSES)
def test_micro_batches_and_layer_checkpoints_leave_every_number(name):
    model = build(name, "eager").train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    ids, mask = build_prompts(5, documents=2, length=9, padded=True)
    candidates, lengths = candidates_of(ids, mask, 6, number=5, longest=6)

    def run(micro_batch: int | None) -> tuple[Tensor, list[Tensor]]:
        found = candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths, micro_batch)
        return found.detach(), gradients(model, found)

    expected, wanted = run(None)
    for layers in (False, True):
        for micro_batch in (None, 2):
            found, given_gradients = run(micro_batch)
            torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
            for one, other in zip(given_gradients, wanted, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)
        if not layers:
            model.gradient_checkpointing_enable()


@torch.no_grad()
def test_a_prompt_is_read_once_for_all_its_candidates(monkeypatch):
    model = build("llama")
    ids, mask = build_prompts(5, documents=2, length=9, padded=False)
    candidates, lengths = candidates_of(ids, mask, 6, number=5, longest=6)
    seen = []
    monkeypatch.setattr(
        PackedStates, "hidden", lambda self, rows, scored: _spy(self, rows, scored, seen)
    )
    candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths)
    # No token of a text is there twice, and no place is spent on padding but to even out rows.
    assert seen == [9 + int((lengths - 1).sum(1).max())]


def _spy(states: PackedStates, ids: Tensor, scored: Tensor, seen: list) -> Tensor:
    seen.append(pack(states.sources, ids, scored).ids.shape[1])
    return real_hidden(states, ids, scored)


real_hidden = PackedStates.hidden


@torch.no_grad()
def test_a_pad_that_is_an_end_token_hides_nothing():
    model = build("llama")
    model.generation_config.pad_token_id = EOS
    ids, mask = build_prompts(2, documents=2, length=6, padded=True)
    ids[mask == 0] = EOS
    candidates, lengths = candidates_of(ids, mask, 3, number=3, longest=5)
    candidates.scatter_(2, lengths[..., None], EOS)  # every text ends in the token that pads
    candidates[0, 0, 1] = EOS  # and one has it inside
    candidates[torch.arange(6) > lengths[..., None]] = EOS
    expected = plain(model, ids, mask, candidates, lengths)
    found = candidate_log_likelihood(model, ids, mask, candidates, 0.0, lengths)
    torch.testing.assert_close(found, expected)
    with pytest.raises(ValueError, match="cannot be told from an end"):
        candidate_log_likelihood(model, ids, mask, candidates, 0.0)


@given(
    prompts=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    number=st.integers(1, 4),
    longest=st.integers(1, 6),
    side=st.sampled_from(["left", "right"]),
    micro_batch=st.sampled_from([None, 1, 3]),
    name=st.sampled_from(["llama", "gemma3", "gpt2"]),
    seed=st.integers(0, 99),
)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@torch.no_grad()
def test_any_shape(prompts, number, longest, side, micro_batch, name, seed):
    model = MODELS.setdefault(name, build(name))
    width = max(prompts)
    mask = (torch.arange(width) < torch.tensor(prompts)[:, None]).long()
    mask = mask.flip(1) if side == "left" else mask
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, 61, mask.shape, generator=generator)
    candidates, lengths = candidates_of(ids, mask, seed, number, longest)
    expected = plain(model, ids, mask, candidates, lengths)
    found = sequence_statistics(model, ids, mask, candidates, lengths, micro_batch)
    torch.testing.assert_close(found.log_probability, expected, rtol=1e-9, atol=1e-9)


MODELS: dict = {}


def test_a_window_counts_positions_of_a_text_of_its_own():
    ids, mask = build_prompts(2, documents=1, length=4, padded=False)
    texts, _ = candidates_of(ids, mask, 3, number=2, longest=4)
    rows = pack(Sources(ids, mask), texts[0, :, :-1], torch.arange(8))
    assert rows.positions.tolist() == [[0, 1, 2, 3, 4, 5, 6, 4, 5, 6]]
    assert rows.owners.tolist() == [[0, 0, 0, 0, 1, 1, 1, 2, 2, 2]]
    # The second text's first token is the tenth's neighbour in the row only.
    assert visible(rows, window=3)[0, 0, 7].nonzero()[:, 0].tolist() == [2, 3, 7]
    assert visible(rows)[0, 0, 8].nonzero()[:, 0].tolist() == [0, 1, 2, 3, 7, 8]


@torch.no_grad()
def test_attention_that_takes_no_masks_runs_repeated(monkeypatch):
    model = build("llama")
    ids, mask = build_prompts(2, documents=2, length=5, padded=True)
    candidates, lengths = candidates_of(ids, mask, 3, number=2, longest=4)
    packed = candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths)
    family = families.family_of(model.config)
    repeats = dataclasses.replace(family, packs=False)
    monkeypatch.setitem(families.families(), "llama", repeats)
    repeated = candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths)
    torch.testing.assert_close(packed, repeated)


def test_another_token_than_the_prompts_last_is_a_mistake():
    model = build("llama")
    ids, mask = build_prompts(2, documents=2, length=5, padded=True, side="right")
    candidates, lengths = candidates_of(ids, mask, 3, number=2, longest=4)
    candidates[1, :, 0] += 1
    with pytest.raises(ValueError, match="the last token of the prompt once more"):
        candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths)


@pytest.mark.gpu
def test_on_a_gpu_in_bfloat16_as_on_a_processor(monkeypatch):
    monkeypatch.undo()
    model = build("llama").float()
    ids, mask = build_prompts(2, documents=3, length=40, padded=True)
    candidates, lengths = candidates_of(ids, mask, 3, number=8, longest=20)
    expected = candidate_log_likelihood(model, ids, mask, candidates, 1.0, lengths)
    tensors = [part.cuda() for part in (ids, mask, candidates)]
    found = candidate_log_likelihood(model.cuda(), *tensors, 1.0, lengths)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-4)
    half = candidate_log_likelihood(model.bfloat16(), *tensors, 1.0, lengths)
    torch.testing.assert_close(half.float().cpu(), expected, rtol=0.1, atol=0.1)
