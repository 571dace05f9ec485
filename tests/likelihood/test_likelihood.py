"""f(S) of both kinds of models against one plain forward pass a candidate, in float64."""

import pytest
import tiny_decoders
import tiny_models
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_likelihood import block, gradients, plain
from tiny_decoders import EOS, SHAPE, TOKENS, build_decoder
from tiny_models import build_model
from torch.testing import assert_close

from brido.likelihood import likelihood, projection
from brido.likelihood.likelihood import candidate_log_likelihood, sequence_statistics
from brido.models.sharing.packed_rows import PackedStates, packed_rows, visible
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
FAMILIES = [*tiny_models.FAMILIES, *tiny_decoders.FAMILIES, *MORE]
EXACT = {"rtol": 1e-8, "atol": 1e-8}


def build(name):
    """A model in training mode that drops nothing out."""
    if name in tiny_models.FAMILIES:
        model = build_model(name, 1, 1.5)
    elif name in tiny_decoders.FAMILIES:
        model = build_decoder(name, 1)
    else:
        torch.manual_seed(1)
        config = MORE[name]()
        config.initializer_range = 0.5
        model = transformers.AutoModelForCausalLM.from_config(config).double()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model.train()


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_as_one_plain_forward_a_candidate(name, chunked, monkeypatch):
    """`chunked`: many length groups, and the projection in chunks of 16 rows."""
    if chunked:
        monkeypatch.setitem(likelihood.PASS_TOKENS, "cpu", 0)
        monkeypatch.setitem(projection.CHUNK_ELEMENTS, "cpu", 1)
        for least in ("LEAST_ROWS", "LEAST_ROWS_GRADIENT", "ROWS"):
            monkeypatch.setattr(projection, least, 16)
    model = build(name)
    for side in ("left", "right"):
        ids, mask, texts, lengths = block(model, [11, 4, 7], 5, 8, 3, side)
        expected = plain(model, ids, mask, texts, lengths) / lengths.double() ** 0.6
        # Here lengths are up to the first pad.
        found = candidate_log_likelihood(model, ids, mask, texts, length_penalty=0.6)
        assert_close(found, expected, **EXACT)
        assert_close(gradients(model, found), gradients(model, expected), **EXACT)
    assert model.training


@pytest.mark.parametrize("name", ["bart", "t5", *tiny_decoders.FAMILIES])
def test_micro_batches_and_layer_checkpoints_leave_every_number(name):
    model = build(name)
    ids, mask, texts, lengths = block(model, [9, 5], 5, 6, 5)
    wanted = gradients(model, candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths))
    for layers in (False, True):
        if layers:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        for micro_batch in (None, 1, 2):
            found = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths, micro_batch)
            assert_close(gradients(model, found), wanted, **EXACT)


def test_micro_batches_draw_the_same_dropout_again():
    """The value and the gradient of one forward belong to the same masks."""
    model = build_model("bart", 1, dropout=0.3).train()
    ids, mask, texts, lengths = block(model, [11, 4, 7], 5, 8, 3)

    def value():
        torch.manual_seed(7)
        return candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths, micro_batch=2)

    gradient = gradients(model, value())["model.decoder.layers.0.fc1.bias"]
    bias = model.model.decoder.layers[0].fc1.bias
    weights = torch.linspace(-1, 2, 15, dtype=torch.float64).view(3, 5)
    for entry in (0, 5):
        sums = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                bias[entry] += step
                sums.append((value() * weights).sum())
                bias[entry] -= step
        assert float(sums[0] - sums[1]) / 2e-6 == pytest.approx(float(gradient[entry]), rel=1e-5)


@pytest.mark.parametrize("name", ["bart", "pegasus"])
def test_mean_log_probability_is_the_mean_over_the_vocabulary(name):
    model = build(name)
    ids, mask, texts, lengths = block(model, [11, 4, 7], 5, 8, 3)
    found = sequence_statistics(model, ids, mask, texts, lengths)
    given = {"attention_mask": mask, "decoder_input_ids": texts[:, 2, :-1]}
    means = model(input_ids=ids, **given).logits.log_softmax(-1).mean(-1)
    scored = torch.arange(8) < lengths[:, 2, None]
    assert_close(found.mean_log_probability[:, 2], (means * scored).sum(-1), **EXACT)
    assert torch.equal(found.tokens, lengths)


@torch.no_grad()
@pytest.mark.parametrize("name", ["bart", "llama"])
def test_a_pad_that_is_an_end_token_hides_nothing(name):
    model = build(name)
    ids, mask, texts, lengths = block(model, [6, 4], 3, 5, 3)
    model.generation_config.pad_token_id = EOS
    ids[mask == 0] = EOS
    texts.scatter_(2, lengths[..., None], EOS)  # every text ends in the token that pads
    texts[0, 0, 1] = EOS  # and one has it inside
    texts[torch.arange(6) > lengths[..., None]] = EOS
    found = candidate_log_likelihood(model, ids, mask, texts, 0.0, lengths)
    assert_close(found, plain(model, ids, mask, texts, lengths), **EXACT)
    with pytest.raises(ValueError, match="lengths must be"):
        candidate_log_likelihood(model, ids, mask, texts, 0.0)


MODELS: dict = {}


@given(
    prompts=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    number=st.integers(1, 4),
    longest=st.integers(1, 6),
    side=st.sampled_from(["left", "right"]),
    micro_batch=st.sampled_from([None, 1, 3]),
    name=st.sampled_from(["llama", "gemma3", "gpt2"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@torch.no_grad()
def test_any_shape(prompts, number, longest, side, micro_batch, name, seed):
    model = MODELS.setdefault(name, build(name))
    ids, mask, texts, lengths = block(model, prompts, number, longest, seed, side)
    found = sequence_statistics(model, ids, mask, texts, lengths, micro_batch)
    assert_close(found.log_probability, plain(model, ids, mask, texts, lengths), **EXACT)


@torch.no_grad()
def test_a_prompt_is_read_once_for_all_its_candidates(monkeypatch):
    model = build("llama")
    ids, mask, texts, lengths = block(model, [9, 9], 5, 6, 5)
    seen, real = [], PackedStates.hidden

    def spy(self, rows, scored):
        seen.append(packed_rows(self.sources, rows, scored).ids.shape[1])
        return real(self, rows, scored)

    monkeypatch.setattr(PackedStates, "hidden", spy)
    candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    # No token of a text is there twice, and no place is spent on padding but to even out rows.
    assert seen == [9 + int((lengths - 1).sum(1).max())]


def test_a_window_counts_positions_of_a_text_of_its_own():
    ids = torch.tensor([[5, 6, 7, 8]])
    texts = torch.tensor([[[8, 4, 4, 4], [8, 5, 5, 5]]])
    rows = packed_rows(Sources(ids, torch.ones_like(ids)), texts[0], torch.arange(8))
    assert rows.positions.tolist() == [[0, 1, 2, 3, 4, 5, 6, 4, 5, 6]]
    assert rows.owners.tolist() == [[0, 0, 0, 0, 1, 1, 1, 2, 2, 2]]
    # The second text's first token is the tenth's neighbour in the row only.
    assert visible(rows, window=3)[0, 0, 7].nonzero()[:, 0].tolist() == [2, 3, 7]
    assert visible(rows)[0, 0, 8].nonzero()[:, 0].tolist() == [0, 1, 2, 3, 7, 8]


@pytest.mark.gpu
def test_on_a_gpu_in_bfloat16_as_on_a_processor(monkeypatch):
    monkeypatch.undo()
    model = build("llama").float()
    ids, mask, texts, lengths = block(model, [40, 9, 23], 8, 20, 2)
    expected = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    tensors = [part.cuda() for part in (ids, mask, texts)]
    found = candidate_log_likelihood(model.cuda(), *tensors, 1.0, lengths)
    assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-4)
    half = candidate_log_likelihood(model.bfloat16(), *tensors, 1.0, lengths)
    assert_close(half.float().cpu(), expected, rtol=0.1, atol=0.1)
