"""Tensors, the decoder's first tokens, and which documents an update sees."""

from dataclasses import replace
from itertools import chain

import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_bart

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.training.batches import Batches, RankedDocument, UpdatePlan, share

DOCUMENTS = [
    RankedDocument("a", "w1 w2 w3", "w1", ["w4 w5", "w6"], [0.9, 0.1]),
    RankedDocument("b", "w7", "w8 w9", ["w1", "w2 w3 w4"], [0.5, 0.5]),
]
# Ids: <s> 0, <pad> 1, </s> 2, <unk> 3, w0 4, w1 5, ...


def language(tokenizer, prefix="generation", limit=32):
    reading = ReadingSettings(max_source_tokens=limit, decoder_prefix=prefix)
    return LanguageModel(tiny_bart(), tokenizer, reading)


def test_a_batch_in_full(tokenizer):
    batch = Batches(language(tokenizer), 4).batch(DOCUMENTS)
    assert batch.sources.ids.tolist() == [[0, 5, 6, 7, 2], [0, 11, 2, 1, 1]]
    assert batch.sources.mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert batch.targets.ids.tolist() == [
        [[2, 0, 5, 2, 1], [2, 0, 8, 9, 2], [2, 0, 10, 2, 1]],
        [[2, 0, 12, 13, 2], [2, 0, 5, 2, 1], [2, 0, 6, 7, 2]],  # and w4, which is too much
    ]
    assert batch.targets.lengths.tolist() == [[3, 4, 3], [4, 3, 4]]
    assert batch.scores.tolist() == [[0.9, 0.1], [0.5, 0.5]]


def test_fewer_candidates_are_filled_up_and_marked(tokenizer):
    short = replace(DOCUMENTS[1], candidates=["w1"], scores=[0.5])
    batch = Batches(language(tokenizer), 16).batch([DOCUMENTS[0], short])
    assert batch.eligible.tolist() == [[True, True], [True, False]]
    assert batch.scores.tolist() == [[0.9, 0.1], [0.5, 0.0]]
    assert batch.targets.ids[1, 2].tolist() == [2, 0, 2, 1, 1]
    assert Batches(language(tokenizer), 16).batch([short]).eligible.tolist() == [[True]]


def test_the_elected_is_taught_where_it_is_asked_for_or_there_is_no_reference(tokenizer):
    bare = replace(DOCUMENTS[1], reference=None)
    usual, elected = (Batches(language(tokenizer), 16, elected) for elected in (False, True))
    assert [usual.target(document) for document in (DOCUMENTS[0], bare)] == ["w1", "w1"]
    assert [elected.target(document) for document in DOCUMENTS] == ["w4 w5", "w1"]
    batch = elected.batch(DOCUMENTS)
    assert torch.equal(batch.targets.ids[:, 0], batch.targets.ids[:, 1])
    assert elected.target_tokens(DOCUMENTS) == 4 + 3


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 4), st.integers(0, 9))
def test_every_epoch_sees_each_document_once(documents, batch_size, epochs, seed):
    plan = UpdatePlan(documents, batch_size, epochs, seed)
    assert plan.updates == epochs * plan.updates_per_epoch
    updates = [plan.indices(update) for update in range(1, plan.updates + 1)]
    assert all(0 < len(update) <= batch_size for update in updates)
    for epoch in range(epochs):
        part = updates[epoch * plan.updates_per_epoch : (epoch + 1) * plan.updates_per_epoch]
        assert sorted(chain(*part)) == list(range(documents))
    # From anywhere, by another object: the position is the update alone.
    assert UpdatePlan(documents, batch_size, epochs, seed).indices(plan.updates) == updates[-1]


@given(st.integers(1, 30), st.integers(1, 8))
def test_processes_share_all_chunks_in_step(chunks, processes):
    shares = [share(chunks, process, processes) for process in range(processes)]
    assert len({len(mine) for mine in shares}) == 1
    assert sorted(chunk for mine in shares for chunk in mine if chunk is not None) == list(
        range(chunks)
    )
