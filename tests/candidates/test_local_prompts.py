"""A decoder-only checkpoint that turns documents into candidates."""

import pytest
from tiny_chat import chat_tokenizer, tiny_llama

from brido.candidates.local import Generator
from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search import SamplingSettings, SearchSettings
from brido.work.settings import RuntimeSettings

DOCUMENTS = ["the cat sat in the cat", "the cat", "in the cat the cat sat sat", "cat"]
IDS = ["a", "b", "c", "d"]
READING = ReadingSettings(max_source_tokens=48, prompt="Say it: {{ document }}")
SAMPLES = SamplingSettings(num_return_sequences=6, max_length=12, min_p=0.02, count_prompt=False)
BEAMS = SearchSettings(
    num_beams=6, num_beam_groups=6, diversity_penalty=1.0, max_length=12, count_prompt=False
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints") / "base"
    folder.mkdir()
    model = tiny_llama(initializer_range=0.4)
    LanguageModel(model, chat_tokenizer(), READING).save(folder)
    return folder


def candidates(checkpoint, method, order=(0, 1, 2, 3), batch_tokens=16384):
    runtime = RuntimeSettings(batch_tokens=batch_tokens, device="cpu")
    documents = {IDS[place]: DOCUMENTS[place] for place in order}
    found = Generator(checkpoint, READING, runtime).generate(documents, method, seed=3)
    rows = dict(zip(order, found.written, strict=True))
    return [rows[place][:3] for place in range(len(DOCUMENTS))]


@pytest.mark.parametrize("method", [SAMPLES, BEAMS], ids=["samples", "beams"])
def test_candidates_depend_on_neither_batches_nor_the_order_of_documents(checkpoint, method):
    together = candidates(checkpoint, method)
    alone = candidates(checkpoint, method, order=(2, 0, 3, 1), batch_tokens=1)
    for one, other in zip(together, alone, strict=True):
        assert one[0] == other[0]
        assert one[1] == pytest.approx(other[1], rel=1e-4, abs=1e-5)
        assert one[2] == other[2]
    assert len({tuple(texts) for texts, _, _ in together}) == len(DOCUMENTS)


def test_a_candidate_that_was_cut_is_flagged(checkpoint):
    ended = [flag for _, _, flags in candidates(checkpoint, SAMPLES) for flag in flags]
    assert set(ended) == {True, False}
    short = SAMPLES.model_copy(update={"max_length": 2})
    cut = [flag for _, _, flags in candidates(checkpoint, short) for flag in flags]
    # Longer texts are the same texts going on: what ended by then had ended at that place.
    assert sum(cut) <= sum(ended)
