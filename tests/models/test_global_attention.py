"""LED and PRIMERA: the tokens that see all, against transformers with the same mask."""

import pytest
import torch
from tiny_families import PAD, build_family
from tiny_models import WORDS, word_tokenizer

from brido.likelihood import candidate_log_likelihood
from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings, beam_search

SETTINGS = SearchSettings(num_beams=3, max_length=10, min_length=4)


@pytest.fixture
def primera():
    """PRIMERA's tokenizer is LED's with one more token between documents."""
    tokenizer = word_tokenizer()
    tokenizer.add_tokens(["<doc-sep>"], special_tokens=True)
    model = build_family("led")
    return LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=24))


def global_mask(ids, separator=None):
    chosen = torch.zeros_like(ids) if separator is None else (ids == separator).long()
    chosen[:, 0] = 1
    return chosen


@torch.no_grad()
def test_the_first_token_and_every_separator_see_all(primera):
    document = f"{' '.join(WORDS[:7])} <doc-sep> {' '.join(WORDS[7:14])} <doc-sep> w20"
    read = primera.read([document, "w1 w2"])
    separator = primera.tokenizer.convert_tokens_to_ids("<doc-sep>")
    assert (read.ids == separator).sum() == 2
    assert torch.equal(read.mask == 2, read.ids == separator)
    plain = (read.mask > 0).long()
    found = beam_search(primera.model, read.ids, read.mask, SETTINGS).sequences

    def generated(chosen):
        return primera.model.generate(
            input_ids=read.ids, attention_mask=plain, global_attention_mask=chosen, num_beams=3,
            num_return_sequences=3, max_length=10, min_length=4, do_sample=False,
        )  # fmt: skip

    assert torch.equal(found.flatten(0, 1), generated(global_mask(read.ids, separator)))
    likelihood = candidate_log_likelihood(primera.model, read.ids, read.mask, found, 0.0)
    chosen = global_mask(read.ids, separator).repeat_interleave(3, 0)
    texts = found.flatten(0, 1)
    logits = primera.model(
        input_ids=read.ids.repeat_interleave(3, 0),
        attention_mask=plain.repeat_interleave(3, 0),
        global_attention_mask=chosen,
        decoder_input_ids=texts[:, :-1],
    ).logits.log_softmax(-1)
    own = logits.gather(2, texts[:, 1:, None])[..., 0].masked_fill(texts[:, 1:] == PAD, 0.0)
    torch.testing.assert_close(likelihood.flatten(), own.sum(1))
    # Without the separators the numbers are others, so the mask is what counts.
    other = candidate_log_likelihood(primera.model, read.ids, plain, found, 0.0)
    assert (likelihood[0] - other[0]).abs().max() > 1e-6
    torch.testing.assert_close(likelihood[1], other[1])
