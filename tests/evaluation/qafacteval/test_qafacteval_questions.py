"""The question generator: markers, positions, search and clean-up."""

import copy

import pytest
import torch
import torch.nn.functional as F

from brido.evaluation.qafacteval.questions import (
    MAX_STEPS,
    NUM_BEAMS,
    MarkedSentence,
    QuestionGenerator,
    clean_up,
    shift_positions,
)
from brido.evaluation.qafacteval.weights import find_models

SENTENCE = "The court in Leeds jailed Ann Smith."
ITEMS = [
    MarkedSentence(SENTENCE, 0, 9),
    MarkedSentence(SENTENCE, 26, 35),
    MarkedSentence("Ann left.", 0, 3),
    MarkedSentence("The owner, Dr. O'Neil, sold 1,200 cakes on Monday in the café.", 28, 39),
]


@pytest.fixture(scope="module")
def folder(published):
    torch.set_num_threads(1)
    return find_models(str(published.folder))["questions"]


@pytest.fixture(scope="module")
def generator(folder) -> QuestionGenerator:
    return QuestionGenerator(folder, torch.device("cpu"))


def test_markers_swallow_the_spaces_around_them(generator):
    """The first word after a marker has no sign for a space before it."""
    assert ITEMS[1].marked() == "The court in Leeds jailed <m> Ann Smith </m>."
    tokens = generator.tokenizer.convert_ids_to_tokens(generator.encode(ITEMS[0]))
    plain = generator.tokenizer
    expected = [
        "<s>", "<m>", *plain.tokenize("The court"), "</m>",
        *plain.tokenize("in Leeds jailed Ann Smith."), "</s>",
    ]  # fmt: skip
    assert tokens == expected


def test_long_sentences_are_cut_to_the_position_table(generator):
    long = MarkedSentence("court " * 300, 0, 5)
    assert len(generator.encode(long)) == 128
    assert generator.generate([generator.encode(long)])


def _log_probabilities(model, source, history):
    """Without a cache, positions written into the embeddings by hand."""
    decoder = model.get_decoder()
    table = decoder.embed_positions.weight
    positions = [0, *range(2, len(history) + 1)]
    ids = torch.tensor([history])
    tokens = decoder.embed_tokens(ids) + table[torch.tensor(positions) + 2]
    # The decoder adds positions 0, 1, 2, ... itself: take them away again.
    tokens = tokens - table[torch.arange(len(history)) + 2]
    states = decoder(
        inputs_embeds=tokens,
        encoder_hidden_states=model.get_encoder()(source)[0],
        use_cache=False,
    )[0]
    return F.log_softmax(model.lm_head(states[:, -1]) + model.final_logits_bias, dim=-1)[0]


@torch.no_grad()
def _slow(model, ids):
    source = torch.tensor([ids])
    live = [([], 0.0)]
    for _ in range(MAX_STEPS):
        extended = []
        for history, score in live:
            if history and history[-1] == 2:
                extended.append(([*history, 2], score))
                continue
            row = _log_probabilities(model, source, [0, *history])
            values, tokens = row.topk(NUM_BEAMS)
            extended += [
                ([*history, t], score + v)
                for v, t in zip(values.tolist(), tokens.tolist(), strict=True)
            ]
        live = sorted(extended, key=lambda item: -item[1])[:NUM_BEAMS]
        if all(history[-1] == 2 for history, _ in live):
            break
    return live[0][0]


@pytest.fixture
def short(monkeypatch):
    """Twelve steps show everything, and the slow search has no cache."""
    monkeypatch.setattr("brido.evaluation.qafacteval.questions.MAX_STEPS", 12)
    monkeypatch.setitem(globals(), "MAX_STEPS", 12)


def test_equal_to_a_search_without_cache_or_batch(published, folder, short):
    generator = QuestionGenerator(folder, torch.device("cpu"))
    original = copy.deepcopy(published.questions)
    # A stronger end token, so that items of one batch end at different steps.
    for model in (generator.model, original):
        model.final_logits_bias[0, 2] = 6.0
    encoded = [generator.encode(item) for item in ITEMS]
    expected = [generator.detokenise(_slow(original, ids)) for ids in encoded]
    assert generator.generate(encoded) == expected
    assert [generator.generate([ids])[0] for ids in encoded] == expected


@torch.no_grad()
def test_positions_are_shifted_behind_the_first(published):
    model = copy.deepcopy(published.questions)
    table = model.get_decoder().embed_positions.weight
    before = table.clone()
    shift_positions(model)
    for position, shown in {0: 0, 1: 2, 2: 3, 50: 51}.items():
        assert torch.equal(table[position + 2], before[shown + 2])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who left ? Ann .", "Who left? Ann."),
        ("Wait !, he said , now", "Wait!, he said, now"),
        ("rock ' n ' roll", "rock'n'roll"),
        ("does n't I 'm it 's we 've you 're", "doesn't I'm it's we've you're"),
        ("they 'll stay", "they 'll stay"),
    ],
)
def test_clean_up(text, expected):
    assert clean_up(text) == expected
