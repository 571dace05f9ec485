"""candidate_log_likelihood against a plain forward of the model, in float64."""

import pytest
import torch
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    MBartConfig,
    MBartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from brido.likelihood import length_groups, projection
from brido.likelihood.likelihood import candidate_log_likelihood, sequence_statistics
from brido.models.sharing.cross_attention import shared_cross_attention

VOCABULARY, DOCUMENTS, CANDIDATES, SOURCE, TOKENS = 61, 3, 5, 11, 9
SHAPE = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 32,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "init_std": 0.4,
}
FAMILIES = ["bart", "pegasus", "mbart", "t5"]
# T5's own attention takes its softmax in float32, whatever the model's type is.
TOLERANCE = {"bart": 1e-10, "pegasus": 1e-10, "mbart": 1e-10, "t5": 1e-5}


def build(family: str, **changes: object) -> PreTrainedModel:
    torch.manual_seed(1)
    if family == "bart":
        model = BartForConditionalGeneration(BartConfig(**{**SHAPE, **changes}))
    elif family == "mbart":
        start = {"decoder_start_token_id": 2}
        model = MBartForConditionalGeneration(MBartConfig(**{**SHAPE, **start, **changes}))
    elif family == "pegasus":
        special = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
        model = PegasusForConditionalGeneration(PegasusConfig(**{**SHAPE, **special, **changes}))
    else:
        model = T5ForConditionalGeneration(
            T5Config(
                vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
                dropout_rate=0.0, decoder_start_token_id=0, initializer_factor=2.0,
            )
        )  # fmt: skip
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias.normal_()
    return model.double().train()


def inputs(model: PreTrainedModel, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Padded sources and candidates of many lengths; position 0 is the decoder's start token."""
    generator = torch.Generator().manual_seed(seed)
    pad = model.config.pad_token_id
    source = torch.randint(4, VOCABULARY, (DOCUMENTS, SOURCE), generator=generator)
    lengths = torch.tensor([SOURCE, 4, 7])
    mask = (torch.arange(SOURCE) < lengths[:, None]).long()
    source[mask == 0] = pad
    shape = (DOCUMENTS, CANDIDATES, TOKENS)
    candidates = torch.randint(4, VOCABULARY, shape, generator=generator)
    ends = torch.randint(1, TOKENS, shape[:2], generator=generator)
    candidates[torch.arange(TOKENS) > ends[..., None]] = pad
    candidates[:, :, 0] = model.config.decoder_start_token_id
    return source, mask, candidates


def plain(
    model: PreTrainedModel, source: Tensor, mask: Tensor, candidates: Tensor, pad: int | None = -1
) -> Tensor:
    """log p of every following token [B, N, T-1], 0 for pad: one row at a time, nothing shared."""
    pad = model.config.pad_token_id if pad == -1 else pad
    documents = []
    for ids, visible, rows in zip(source, mask, candidates, strict=True):
        rows_of_document = []
        for row in rows:
            logits = model(
                input_ids=ids[None], attention_mask=visible[None], decoder_input_ids=row[None, :-1]
            ).logits
            labels = row[1:]
            chosen = logits[0].log_softmax(-1).gather(1, labels[:, None])[:, 0]
            rows_of_document.append(chosen if pad is None else chosen * (labels != pad))
        documents.append(torch.stack(rows_of_document))
    return torch.stack(documents)


def gradients(model: PreTrainedModel, value: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    weights = torch.linspace(-1, 1.3, value.numel(), dtype=value.dtype).view_as(value)
    (value * weights).sum().backward()
    return {
        name: parameter.grad.clone()
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }


def assert_equal_gradients(
    left: dict[str, Tensor], right: dict[str, Tensor], tolerance: float = 1e-10
) -> None:
    assert left.keys() == right.keys()
    for name, gradient in left.items():
        torch.testing.assert_close(gradient, right[name], rtol=tolerance, atol=tolerance, msg=name)


@pytest.fixture(params=["whole", "chunked"])
def _chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`chunked`: many length groups, and the projection in chunks of 16 rows."""
    if request.param == "chunked":
        monkeypatch.setitem(length_groups.PASS_TOKENS, "cpu", 0)
        monkeypatch.setitem(projection.CHUNK_ELEMENTS, "cpu", 1)


@pytest.mark.usefixtures("_chunks")
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_a_plain_forward_with_gradients(family: str, attention: str) -> None:
    model = build(family)
    model.set_attn_implementation(attention)
    source, mask, candidates = inputs(model)
    log_probability = plain(model, source, mask, candidates)
    count = (candidates[:, :, 1:] != model.config.pad_token_id).sum(-1)
    expected = log_probability.sum(-1) / count**0.6
    wanted = gradients(model, expected)

    actual = candidate_log_likelihood(model, source, mask, candidates, length_penalty=0.6)

    tolerance = TOLERANCE[family]
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)
    assert_equal_gradients(gradients(model, actual), wanted, tolerance)
    assert model.config._attn_implementation == attention


@pytest.mark.parametrize("micro_batch", [1, 2, 5])
@pytest.mark.parametrize("family", ["bart", "t5"])
def test_micro_batches_give_the_same_gradient(family: str, micro_batch: int) -> None:
    model = build(family)
    batch = inputs(model)
    whole = candidate_log_likelihood(model, *batch, 2.0)
    wanted = gradients(model, whole)
    parts = candidate_log_likelihood(model, *batch, 2.0, micro_batch=micro_batch)
    tolerance = TOLERANCE[family]
    torch.testing.assert_close(parts, whole, rtol=tolerance, atol=tolerance)
    assert_equal_gradients(gradients(model, parts), wanted, tolerance)


@pytest.mark.parametrize("inside", [True, False])
def test_layer_checkpoints_give_the_same_gradient(inside: bool) -> None:
    model = build("bart")
    batch = inputs(model)
    wanted = gradients(model, candidate_log_likelihood(model, *batch, 1.0))
    model.gradient_checkpointing_enable({"use_reentrant": False})
    if inside:
        with shared_cross_attention(model):
            actual = gradients(model, candidate_log_likelihood(model, *batch, 1.0))
    else:
        actual = gradients(model, candidate_log_likelihood(model, *batch, 1.0))
    assert_equal_gradients(actual, wanted)


def test_micro_batches_draw_the_same_dropout_again() -> None:
    """The value and the gradient of one forward belong to the same masks."""
    model = build("bart", dropout=0.3)
    batch = inputs(model)
    torch.manual_seed(7)
    value = candidate_log_likelihood(model, *batch, 1.0, micro_batch=2)
    gradient = gradients(model, value)["model.decoder.layers.0.fc1.bias"]
    bias = model.model.decoder.layers[0].fc1.bias
    weights = torch.linspace(-1, 1.3, value.numel(), dtype=value.dtype).view_as(value)
    for entry in (0, 5):
        sums = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                bias[entry] += step
                torch.manual_seed(7)
                sums.append(
                    (candidate_log_likelihood(model, *batch, 1.0, micro_batch=2) * weights).sum()
                )
                bias[entry] -= step
        assert float(sums[0] - sums[1]) / 2e-6 == pytest.approx(float(gradient[entry]), rel=1e-5)


@pytest.mark.parametrize("family", ["bart", "pegasus"])
def test_mean_log_probability_is_the_mean_over_the_vocabulary(family: str) -> None:
    model = build(family)
    source, mask, candidates = inputs(model)
    statistics = sequence_statistics(model, source, mask, candidates)
    logits = model(
        input_ids=source, attention_mask=mask, decoder_input_ids=candidates[:, 2, :-1]
    ).logits
    scored = candidates[:, 2, 1:] != model.config.pad_token_id
    expected = (logits.log_softmax(-1).mean(-1) * scored).sum(-1)
    torch.testing.assert_close(
        statistics.mean_log_probability[:, 2], expected, rtol=1e-10, atol=1e-10
    )
    assert statistics.tokens[:, 2].tolist() == scored.sum(-1).tolist()


def test_position_zero_is_never_scored_though_it_is_pad() -> None:
    model = build("pegasus")
    source, mask, candidates = inputs(model)
    assert (candidates[:, :, 0] == model.config.pad_token_id).all()
    tokens = sequence_statistics(model, source, mask, candidates).tokens
    assert tokens.tolist() == (candidates[:, :, 1:] != 0).sum(-1).tolist()


def test_scoring_keeps_the_mode() -> None:
    model = build("bart").eval()
    candidate_log_likelihood(model, *inputs(model), 0.0)
    assert not model.training


def test_lengths_say_what_is_scored_whatever_the_tokens_are() -> None:
    """A pad inside counts where lengths say so; without them a candidate ends before it."""
    model = build("bart")
    source, mask, candidates = inputs(model)
    candidates[0, 0] = torch.tensor([2, 9, 1, 8, 1, 7, 1, 1, 1])
    log_probability = plain(model, source, mask, candidates, pad=None)
    lengths = (candidates[:, :, 1:] != 1).sum(-1)
    lengths[0, 0] = 6
    actual = sequence_statistics(model, source, mask, candidates, lengths)
    counted = torch.arange(TOKENS - 1) < lengths[:, :, None]
    expected = (log_probability * counted).sum(-1)
    torch.testing.assert_close(actual.log_probability, expected, rtol=1e-10, atol=1e-10)
    assert torch.equal(actual.tokens, lengths)
    shorter = sequence_statistics(model, source, mask, candidates)
    assert int(shorter.tokens[0, 0]) == 1
    assert shorter.log_probability[0, 0].item() == pytest.approx(log_probability[0, 0, 0].item())


def test_a_pad_that_is_an_end_needs_lengths() -> None:
    model = build("bart")
    source, mask, candidates = inputs(model)
    lengths = (candidates[:, :, 1:] != 1).sum(-1)
    expected = candidate_log_likelihood(model, source, mask, candidates, 1.0)
    model.generation_config.eos_token_id = [2, model.config.pad_token_id]
    with pytest.raises(ValueError, match=r"pad token \(1\) cannot be told from an end"):
        candidate_log_likelihood(model, source, mask, candidates, 1.0)
    actual = candidate_log_likelihood(model, source, mask, candidates, 1.0, lengths)
    assert torch.equal(actual, expected)


@pytest.mark.parametrize("wrong", [torch.full((3, 4), 2), torch.full((3, 5), 9)])
def test_lengths_that_do_not_fit_raise(wrong: Tensor) -> None:
    model = build("bart")
    with pytest.raises(ValueError, match=r"count at most the 8 tokens behind position 0"):
        candidate_log_likelihood(model, *inputs(model), 1.0, wrong)


def test_a_candidate_without_tokens_raises() -> None:
    model = build("bart")
    source, mask, candidates = inputs(model)
    candidates[1, 3, 1:] = model.config.pad_token_id
    with pytest.raises(ValueError, match="candidate 3 of document 1 has no token to score"):
        candidate_log_likelihood(model, source, mask, candidates, 1.0)


def test_shapes_that_do_not_fit_raise() -> None:
    model = build("bart")
    source, mask, candidates = inputs(model)
    with pytest.raises(ValueError, match="input_ids and attention_mask"):
        candidate_log_likelihood(model, source, mask[:, :-1], candidates, 1.0)
    with pytest.raises(ValueError, match="as many documents as input_ids, 3"):
        candidate_log_likelihood(model, source, mask, candidates[:2], 1.0)


def test_bfloat16_autocast_stays_close() -> None:
    model = build("bart", init_std=0.05).float()
    batch = inputs(model)
    exact = candidate_log_likelihood(model, *batch, 1.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = candidate_log_likelihood(model, *batch, 1.0)
    assert rounded.dtype == torch.float32
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=0.02)
    assert all(torch.isfinite(g).all() for g in gradients(model, rounded).values())
