"""Tensors, the decoder's first tokens, and which documents an update sees."""

from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import tiny_bart
from transformers import PreTrainedTokenizerFast

from brido.errors import BridoError
from brido.training.batches import Encoder, Plan, chunk_seed, share
from brido.training.documents import RankedDocument

DOCUMENTS = [
    RankedDocument("a", "w1 w2 w3", "w1", ["w4 w5", "w6"], [0.9, 0.1]),
    RankedDocument("b", "w7", "w8 w9", ["w1", "w2 w3 w4"], [0.5, 0.5]),
]
# Ids: <s> 0, <pad> 1, </s> 2, <unk> 3, w0 4, w1 5, ...


def encoder(tokenizer: PreTrainedTokenizerFast, prefix: str = "generation", **limits: int):
    limits = {"max_source_tokens": 32, "max_candidate_tokens": 16, **limits}
    return Encoder(tokenizer, tiny_bart(), decoder_prefix=prefix, **limits)


def test_a_batch_in_full(tokenizer: PreTrainedTokenizerFast) -> None:
    batch = encoder(tokenizer).batch(DOCUMENTS)
    assert batch.input_ids.tolist() == [[0, 5, 6, 7, 2], [0, 11, 2, 1, 1]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert batch.sequence_ids.tolist() == [
        [[2, 0, 5, 2, 1, 1], [2, 0, 8, 9, 2, 1], [2, 0, 10, 2, 1, 1]],
        [[2, 0, 12, 13, 2, 1], [2, 0, 5, 2, 1, 1], [2, 0, 6, 7, 8, 2]],
    ]
    assert batch.scores.tolist() == [[0.9, 0.1], [0.5, 0.5]]


def test_brio_prefix_starts_from_the_tokenizers_own_first_token(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    assert encoder(tokenizer, "brio").sequences(["w1 w2"]) == [[0, 5, 6, 2]]
    assert encoder(tokenizer, "generation").sequences(["w1 w2"]) == [[2, 0, 5, 6, 2]]


def test_brio_prefix_of_a_model_without_a_first_token() -> None:
    """PEGASUS has none: it is scored from its pad token, as it generates."""

    class Pegasus:
        bos_token_id, pad_token_id = None, 0

        def __len__(self) -> int:
            return 10

        def __call__(self, text_target: list[str], **_: object) -> dict[str, list[list[int]]]:
            return {"input_ids": [[7, 8, 1] for _ in text_target]}

    model = tiny_bart(pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
    for prefix in ("brio", "generation"):
        assert Encoder(Pegasus(), model, 32, 16, prefix).sequences(["x"]) == [[0, 7, 8, 1]]


def test_texts_are_cut(tokenizer: PreTrainedTokenizerFast) -> None:
    short = encoder(tokenizer, max_source_tokens=4, max_candidate_tokens=3)
    assert short.sources(["w1 w2 w3 w4 w5"])[0].tolist() == [[0, 5, 6, 2]]
    assert short.sequences(["w1 w2 w3"]) == [[2, 0, 5, 2]]


def test_the_references_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    batch = encoder(tokenizer).batch(DOCUMENTS, candidates=False)
    assert batch.sequence_ids.tolist() == [[[2, 0, 5, 2, 1]], [[2, 0, 12, 13, 2]]]
    assert batch.scores.shape == (2, 0)


@pytest.mark.parametrize(("prefix", "tokens"), [("generation", 7), ("brio", 5)])
def test_target_tokens_are_those_of_the_references(
    tokenizer: PreTrainedTokenizerFast, prefix: str, tokens: int
) -> None:
    assert encoder(tokenizer, prefix).target_tokens(DOCUMENTS) == tokens


def test_a_model_that_cannot_take_it_is_refused_with_every_reason(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = tiny_bart(vocab_size=20)
    with pytest.raises(BridoError) as error:
        Encoder(tokenizer, model, 65, 64, "generation")
    for words in (
        "reading: max_source_tokens: the model has 64 positions, not 65",
        "training.max_candidate_tokens: the model has 64 positions, not 65",
        "the tokenizer has 44 entries, the model 20",
    ):
        assert words in str(error.value)


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 4), st.integers(0, 9))
def test_every_epoch_sees_each_document_once(
    documents: int, batch_size: int, epochs: int, seed: int
) -> None:
    plan = Plan(documents, batch_size, epochs, seed)
    assert plan.updates == epochs * plan.updates_per_epoch
    updates = [plan.indices(update) for update in range(1, plan.updates + 1)]
    assert all(0 < len(update) <= batch_size for update in updates)
    for epoch in range(epochs):
        part = updates[epoch * plan.updates_per_epoch : (epoch + 1) * plan.updates_per_epoch]
        assert sorted(chain(*part)) == list(range(documents))
    # From anywhere, by another object: the position is the update alone.
    assert Plan(documents, batch_size, epochs, seed).indices(plan.updates) == updates[-1]


def test_epochs_and_seeds_shuffle_differently() -> None:
    plan = Plan(50, 50, 2, seed=0)
    assert plan.indices(1) != plan.indices(2)
    assert plan.indices(1) != Plan(50, 50, 2, seed=1).indices(1)


@given(st.integers(1, 30), st.integers(1, 8))
def test_processes_share_all_chunks_in_step(chunks: int, processes: int) -> None:
    shares = [share(chunks, process, processes) for process in range(processes)]
    assert len({len(mine) for mine in shares}) == 1
    assert sorted(chunk for mine in shares for chunk in mine if chunk is not None) == list(
        range(chunks)
    )


def test_chunk_seeds_differ_and_fit_torch() -> None:
    seeds = {chunk_seed(s, u, c) for s in range(3) for u in range(5) for c in range(5)}
    assert len(seeds) == 75
    for seed in seeds:
        torch.manual_seed(seed)
