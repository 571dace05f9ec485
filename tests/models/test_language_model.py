"""One model that reads documents and writes summaries."""

import pytest
import tiny_models
import torch
from tiny_models import build_model, build_sources, tiny_bart, word_tokenizer
from tokenizers import processors

from brido.models import LanguageModel
from brido.models.language_model import columns_first, written_with
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings, diverse_beam_search

# Ids: <s> 0, <pad> 1, </s> 2, <unk> 3, w0 4, w1 5, ...


def language(limit=32, prefix="generation", **changes):
    reading = ReadingSettings(max_source_tokens=limit, decoder_prefix=prefix)
    return LanguageModel(tiny_bart(**changes), word_tokenizer(), reading)


def test_the_brio_prefix_is_the_tokenizers_own_first_token_if_it_has_one():
    """PEGASUS has none: it is scored from its pad token, as it generates."""
    targets = language(prefix="brio").write([["w1 w2"]], None, limit=9)
    assert targets.ids.tolist() == [[[0, 5, 6, 2]]]
    assert targets.lengths.tolist() == [[3]]
    model = language(prefix="brio")
    model.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    assert model.write([["w1 w2"]], None, limit=9).ids.tolist() == [[[2, 5, 6, 2]]]
    tokens = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    for prefix in ("brio", "generation"):
        model = language(prefix=prefix, **tokens)
        model.tokenizer.bos_token = None
        targets = model.write([["w1 w2"]], None, limit=9)
        assert targets.ids.tolist()[0][0][0] == 0
        assert targets.lengths.tolist() == [[4]]


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_a_model_laid_out_by_columns_is_the_same_model(family):
    model, other = build_model(family, 3, 2.0), build_model(family, 3, 2.0)
    columns_first(written_with(other))
    assert not other.get_output_embeddings().weight.is_contiguous()
    for weight, same in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(weight, same)
    source, mask = build_sources(family, 3, documents=3, length=9, padded=True)
    settings = SearchSettings(num_beams=6, num_beam_groups=3, diversity_penalty=0.7, max_length=12)
    expected = diverse_beam_search(model, source, mask, settings)
    result = diverse_beam_search(other, source, mask, settings)
    assert torch.equal(result.sequences, expected.sequences)
    assert torch.equal(result.scores, expected.scores)
