"""Layers laid out for oneDNN give what plain layers give."""

import copy
from types import SimpleNamespace

import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration, LlamaConfig, LlamaForCausalLM

from brido.likelihood import candidate_log_likelihood
from brido.models import products
from brido.models.products import (
    FastLinear,
    LaidOutLinear,
    add_product,
    computes_right,
    faster_training,
    lay_out_layers,
    linear,
)
from brido.search import SearchSettings, diverse_beam_search
from brido.training.devices import checkpoint_layers

SIZE = products.LEAST


def build(family, dtype=torch.float32):
    """A model whose matrices are just large enough."""
    torch.manual_seed(0)
    if family == "bart":
        config = BartConfig(
            vocab_size=300, d_model=SIZE, encoder_layers=1, decoder_layers=2,
            encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=SIZE,
            decoder_ffn_dim=SIZE + 40, max_position_embeddings=64,
        )  # fmt: skip
        model = BartForConditionalGeneration(config)
        model.final_logits_bias.normal_()
    else:
        config = LlamaConfig(
            vocab_size=300, hidden_size=SIZE, intermediate_size=SIZE + 40, num_hidden_layers=2,
            num_attention_heads=3, num_key_value_heads=1, pad_token_id=1,
            tie_word_embeddings=family == "tied llama",
        )  # fmt: skip
        model = LlamaForCausalLM(config)
    for parameter in model.parameters():
        parameter.data *= 3  # clear choices
    return model.to(dtype).eval()


@pytest.fixture
def amd(monkeypatch, tmp_path):
    """The processor is AMD's."""
    pretend(monkeypatch, tmp_path, "vendor_id\t: AuthenticAMD\n")


def pretend(monkeypatch, tmp_path, text):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(products, "_PROCESSOR", tmp_path / "cpuinfo")
    products.is_faster.cache_clear()
    monkeypatch.setattr(products, "is_faster", products.is_faster.__wrapped__)


@pytest.mark.parametrize("family", ["bart", "llama", "tied llama"])
@torch.no_grad()
def test_texts_and_likelihoods_are_those_of_the_plain_model(amd, family):
    plain = build(family)
    packed = copy.deepcopy(plain)
    assert lay_out_layers(packed) == computes_right()
    source = torch.randint(4, 300, (2, 9))
    mask = torch.ones_like(source)
    settings = SearchSettings(num_beams=4, num_beam_groups=2, diversity_penalty=0.5, max_length=8)
    found, expected = (
        diverse_beam_search(model, source, mask, settings) for model in (packed, plain)
    )
    assert torch.equal(found.sequences, expected.sequences)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-5, atol=1e-5)
    texts = torch.randint(4, 300, (2, 3, 6))
    texts[:, :, 0] = source[:, -1:] if family != "bart" else 2
    lengths = torch.tensor([[5, 4, 1], [2, 5, 5]])
    found, expected = (
        candidate_log_likelihood(model, source, mask, texts, 1.0, lengths)
        for model in (packed, plain)
    )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def gradients(model, family):
    """log p of texts, and what every weight's gradient is."""
    torch.manual_seed(1)
    source, texts = torch.randint(4, 300, (2, 9)), torch.randint(4, 300, (2, 3, 6))
    texts[:, :, 0] = source[:, -1:] if family != "bart" else 2
    lengths = torch.tensor([[5, 4, 1], [2, 5, 5]])
    model.zero_grad()
    value = candidate_log_likelihood(model, source, torch.ones_like(source), texts, 1.0, lengths)
    value.sum().backward()
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()
             if weight.grad is not None}  # fmt: skip
    return value.detach(), found


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("family", ["bart", "llama", "tied llama"])
def test_training_gets_the_gradients_of_the_plain_model(amd, family, checkpointed):
    model = build(family).train()
    expected, plain = gradients(model, family)
    if checkpointed:
        checkpoint_layers(model)
    types = [type(module) for module in model.modules()]
    with faster_training(model):
        changed = [module for module in model.modules() if isinstance(module, FastLinear)]
        value, fast = gradients(model, family)
    assert len(changed) == (6 + 2 * 10 + 1 if family == "bart" else 2 * 5 + 1) * computes_right()
    assert [type(module) for module in model.modules()] == types
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-5)
    assert fast.keys() == plain.keys()
    for name, gradient in fast.items():
        torch.testing.assert_close(gradient, plain[name], rtol=1e-4, atol=1e-4, msg=name)


@pytest.mark.parametrize("size", [SIZE, SIZE - 1])
@pytest.mark.parametrize("rows", [0, 1, products.FEW_ROWS, products.FEW_ROWS + 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_products_are_those_of_torch(amd, dtype, rows, size):
    left, right, bias = (
        torch.randn(*shape) for shape in ((rows, size), (size, size + 3), (size + 3,))
    )
    left, right, bias = left.to(dtype), right.to(dtype), bias.to(dtype)
    # Sums of 192 products of normal numbers.
    near = {"rtol": 0.02, "atol": 0.1} if dtype == torch.bfloat16 else {"rtol": 1e-5, "atol": 1e-4}
    for weight in (right.T, right.T.contiguous()):
        torch.testing.assert_close(linear(left, weight, bias), left @ right + bias, **near)
        torch.testing.assert_close(linear(left, weight), left @ right, **near)
    total = torch.ones(rows, size + 3, dtype=torch.promote_types(dtype, torch.float32))
    expected = total + left @ right
    add_product(total, left, right)
    torch.testing.assert_close(total, expected, **near)


@pytest.mark.parametrize(
    ("processor", "operator"),
    [
        ("", None),
        ("vendor_id\t: GenuineIntel\n", None),
        ("vendor_id\t: AuthenticAMD\n", SimpleNamespace()),
        ("vendor_id\t: AuthenticAMD\n", "wrong"),
    ],
)
def test_nothing_is_laid_out_where_it_is_not_faster_or_not_right(
    monkeypatch, tmp_path, processor, operator
):
    pretend(monkeypatch, tmp_path, processor)
    if not processor:
        (tmp_path / "cpuinfo").unlink()
    if operator == "wrong":
        operator = SimpleNamespace(
            _reorder_linear_weight=lambda weight, rows: weight,
            _linear_pointwise=lambda states, weight, *_: states @ weight.T,  # no bias
        )
    if operator is not None:
        monkeypatch.setattr(torch.ops, "mkldnn", operator)
    model = build("llama")
    with faster_training(model):
        assert not any(isinstance(module, FastLinear) for module in model.modules())
    assert not lay_out_layers(model)
    assert not any(isinstance(module, LaidOutLinear) for module in model.modules())
