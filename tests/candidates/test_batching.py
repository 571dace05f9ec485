"""Batches, memory, documents of a split, and how much candidates differ."""

import itertools
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.batching import MemoryBudget, plan_batches
from brido.candidates.diversity import distinct_candidates, mean_pairwise_similarity
from brido.candidates.documents import Sources
from brido.errors import BridoError
from brido.models.family import padded
from brido.tables import CORPUS, write_table


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.integers(1, 8),
    st.integers(1, 2000),
)
def test_batches_hold_every_document_once_within_the_budget(lengths, rows, budget):
    batches = plan_batches(lengths, rows, budget)
    assert sorted(itertools.chain(*batches)) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[number] for number in batch)
        assert len(batch) == 1 or len(batch) * longest * rows <= budget
    order = [lengths[number] for batch in batches for number in batch]
    assert order == sorted(lengths, reverse=True)
    # No batch could have taken in the next document as well.
    for batch in batches[:-1]:
        assert (len(batch) + 1) * lengths[batch[0]] * rows > budget


def test_padding():
    assert padded([[5, 6, 7], [8]], 1).tolist() == [[5, 6, 7], [8, 1, 1]]


@pytest.mark.parametrize(
    "failure",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
    ],
)
def test_a_batch_is_halved_until_it_fits(failure):
    done = []

    def work(numbers):
        if len(numbers) > 2:
            raise failure
        done.append(numbers)

    budget = MemoryBudget(1000)
    budget.run(list(range(7)), work)
    assert sorted(itertools.chain(*done)) == list(range(7))
    assert (budget.halved, budget.tokens) == (3, 125)


def test_a_single_document_that_does_not_fit_is_an_error():
    def work(numbers):
        raise MemoryError

    with pytest.raises(BridoError, match="too small for a single document"):
        MemoryBudget(10).run([0], work)


def test_other_failures_are_not_taken_for_memory():
    def work(numbers):
        raise RuntimeError("size mismatch")

    with pytest.raises(RuntimeError, match="size mismatch"):
        MemoryBudget(10).run([0, 1], work)


def naive_similarity(candidates):
    values = []
    for one, other in itertools.combinations(candidates, 2):
        a, b = one.lower().split(), other.lower().split()
        common = sum((Counter(a) & Counter(b)).values())
        values.append(2 * common / (len(a) + len(b)) if a or b else 1.0)
    return sum(values) / len(values)


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "B", "c"]), max_size=6), min_size=2, max_size=6)
)
def test_similarity_equals_plain_counting(words):
    candidates = [" ".join(text) for text in words]
    assert mean_pairwise_similarity(candidates) == pytest.approx(naive_similarity(candidates))
    assert distinct_candidates(candidates) == len(set(candidates))


def corpus(path, documents, ids=None):
    ids = ids or [f"d{number}" for number in range(len(documents))]
    rows = [
        {"id": name, "document": document, "summary": "s", "references": ["s"]}
        for name, document in zip(ids, documents, strict=True)
    ]
    write_table(path, [rows], CORPUS)
    return path


def test_documents_are_read_shard_by_shard_over_row_groups(tmp_path):
    path = corpus(tmp_path / "train.parquet", [f"text {n}" for n in range(2500)])
    sources = Sources(path, 2300, 700, "refuse", "")
    assert sources.shard_sizes == [700, 700, 700, 200]
    rows = [row for index in range(4) for row in sources.shard(index)]
    assert rows == [(f"d{n}", f"text {n}") for n in range(2300)]
    assert sources.shard(1)[0] == ("d700", "text 700")


@pytest.mark.parametrize(
    ("empty", "kept"), [("leave_out", ["d0", "d2"]), ("keep", ["d0", "d1", "d2"])]
)
def test_empty_documents_by_key(tmp_path, empty, kept):
    path = corpus(tmp_path / "train.parquet", ["x", " \n", "z", "w"])
    sources = Sources(path, 3, 10, empty, "")
    assert [name for name, _ in sources.shard(0)] == kept
    assert sources.left_out == (["d1"] if empty == "leave_out" else [])


def test_repeated_ids_and_empty_documents_are_named_together(tmp_path):
    path = corpus(tmp_path / "train.parquet", ["x", "", "z"], ["a", "b", "a"])
    with pytest.raises(BridoError) as error:
        Sources(path, None, 10, "refuse", "generation.empty_documents")
    for part in ("1 ids occur more than once: a", "1 documents are empty: b", "generation.empty"):
        assert part in str(error.value)
