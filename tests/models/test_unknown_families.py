"""Families that nobody has put into a table: equal to transformers, or refused with a reason."""

import warnings

import pytest
import torch
import transformers
from tiny_families import FAMILIES, PAD, build_family, sources
from tiny_models import word_tokenizer

from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models.completeness import computed
from brido.models.tokens import pad_token
from brido.search import SearchSettings, beam_search

T5_KIN = ["mt5", "switch_transformers"]
SETTINGS = SearchSettings(num_beams=3, max_length=10, min_length=4)


@pytest.fixture(autouse=True)
def _unwarned():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def scored(model, ids, mask, written):
    """The likelihood of candidates [B, N, T] in one pass, and of each in a pass of its own."""
    lengths = (written[:, :, 1:] != PAD).sum(2)
    together = candidate_log_likelihood(model, ids, mask, written, 0.6, lengths)
    alone = [
        candidate_log_likelihood(
            model, ids[d : d + 1], mask[d : d + 1], written[d : d + 1, n : n + 1, : length + 1],
            0.6, lengths[d : d + 1, n : n + 1],
        )
        for d, row in enumerate(lengths.tolist())
        for n, length in enumerate(row)
    ]  # fmt: skip
    return together, torch.stack(alone).view_as(together)


@pytest.mark.parametrize("kind", [name for name in FAMILIES if "neox" not in name])
@torch.no_grad()
def test_an_encoder_decoder_writes_and_scores_as_transformers_does(kind):
    model = build_family(kind)
    ids, mask = sources()
    extra = {}
    if kind == "led":
        extra["global_attention_mask"] = torch.zeros_like(ids)
        extra["global_attention_mask"][:, 0] = 1
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, num_return_sequences=3, max_length=10,
        min_length=4, do_sample=False, **extra,
    )  # fmt: skip
    found = beam_search(model, ids, mask, SETTINGS).sequences
    assert torch.equal(found.flatten(0, 1), expected)
    together, alone = scored(model, ids, mask, found)
    assert together.dtype == torch.float64
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=1e-10)


@torch.no_grad()
def test_bigbird_reads_a_document_alike_in_any_batch_and_behind_any_other():
    settings = {"block_size": 2, "num_random_blocks": 1, "encoder_layers": 2}
    ids, mask = sources(2, 40)
    ids[1, 21:], mask[1, 21:] = PAD, 0
    alone, short = (ids[1:, :21], mask[1:, :21]), (ids[:1, :10], mask[:1, :10])
    model = build_family("bigbird_pegasus", **settings)
    expected = beam_search(model, *alone, SETTINGS).scores
    assert model.get_encoder().attention_type == "block_sparse"
    torch.testing.assert_close(beam_search(model, ids, mask, SETTINGS).scores[1:], expected)
    beam_search(model, *short, SETTINGS)
    torch.testing.assert_close(beam_search(model, *alone, SETTINGS).scores, expected)
    plain = build_family("bigbird_pegasus", **settings).generate(
        input_ids=alone[0], attention_mask=alone[1], num_beams=3, max_length=10, min_length=4
    )
    assert torch.equal(beam_search(model, *alone, SETTINGS).sequences[0, :1], plain)


@torch.no_grad()
def test_a_bigbird_put_together_with_a_decoder_is_read():
    small = {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    encoder = transformers.BigBirdConfig(**small, block_size=2, num_random_blocks=1)
    decoder = transformers.BertConfig(**small, is_decoder=True, add_cross_attention=True)
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    for name in ("pad_token_id", "eos_token_id", "decoder_start_token_id"):
        setattr(config, name, {"pad_token_id": PAD}.get(name, 2))
    model = transformers.EncoderDecoderModel(config).eval()
    assert beam_search(model, *sources(2, 40), SETTINGS).sequences.shape[:2] == (2, 3)


@pytest.mark.parametrize("kind", ["gpt_neox"])
@torch.no_grad()
def test_pythia_writes_and_scores_as_transformers_does(kind):
    model = build_family(kind)
    ids, mask = (part.flip(1) for part in sources())
    expected = model.generate(
        input_ids=ids, attention_mask=mask, num_beams=3, num_return_sequences=3, max_new_tokens=10,
        min_new_tokens=4, do_sample=False,
    )[:, ids.shape[1] :]  # fmt: skip
    found = beam_search(model, ids, mask, SETTINGS)
    assert torch.equal(found.sequences.flatten(0, 1), expected)
    given = ids[:, None, -1:].expand(-1, 3, -1)
    lengths = (found.sequences != PAD).sum(2)
    likelihood = candidate_log_likelihood(
        model, ids, mask, torch.cat([given, found.sequences], 2), 1.0, lengths
    )
    torch.testing.assert_close(likelihood.float(), found.scores)


@torch.no_grad()
def test_a_model_whose_settings_have_no_place_for_a_pad_fills_up_with_its_end():
    """As CodeGen's, and those of Gemma 3 with images."""
    settings = {"vocab_size": 64, "n_embd": 16, "n_layer": 1, "n_head": 4, "rotary_dim": 2}
    config = transformers.CodeGenConfig(**settings, eos_token_id=2, bos_token_id=0)
    assert not hasattr(config, "pad_token_id")
    model = transformers.CodeGenForCausalLM(config).eval()
    assert pad_token(model) == 2
    assert beam_search(model, *sources(), SETTINGS).sequences.shape[:2] == (2, 3)


@pytest.mark.parametrize("kind", ["pegasus", "pegasus_x", "bigbird_pegasus"])
def test_pegasus_and_its_kin_write_their_new_line_as_a_space(kind):
    tokenizer = word_tokenizer()
    tokenizer.add_tokens(["<n>"])
    ids = tokenizer("w1 <n> w2", return_tensors="pt").input_ids  # its first token is given
    assert LanguageModel(build_family(kind), tokenizer).text(ids) == ["w1 w2"]


@pytest.mark.parametrize("kind", T5_KIN)
@torch.no_grad()
def test_t5s_kin_may_be_padded_on_either_side(kind):
    model = build_family(kind)
    ids, mask = sources()
    expected = beam_search(model, ids, mask, SETTINGS)
    rolled = [torch.stack([part[0], part[1].roll(6)]) for part in (ids, mask)]
    found = beam_search(model, *rolled, SETTINGS)
    assert torch.equal(found.sequences, expected.sequences)
    torch.testing.assert_close(found.scores, expected.scores)


@pytest.mark.parametrize("kind", list(FAMILIES))
def test_only_tables_of_a_formula_count_as_computed(kind):
    model = build_family(kind)
    found = {name for name in model.state_dict() if computed(model, name)}
    tables = {f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")}
    assert found == (tables if kind in ("pegasus", "marian") else set())


def test_a_table_that_does_not_follow_its_formula_is_not_computed():
    model = build_family("pegasus")
    name = "model.encoder.embed_positions.weight"
    assert computed(model, name)
    model.model.encoder.embed_positions.weight.data[3, 3] += 0.5
    assert not computed(model, name)
    assert not computed(model, "model.encoder.nothing.weight")
