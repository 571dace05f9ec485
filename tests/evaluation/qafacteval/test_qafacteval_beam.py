"""AllenNLP's beam search against a slow version with dictionaries, on random transition tables."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.evaluation.qafacteval.beam import beam_search

END = 2


def _table(seed: int, vocabulary: int, steps: int) -> torch.Tensor:
    """log p(next | step, last two tokens), so that a beam's history matters.

    Each step has its own table: with one for all, the same moves in another order are a tie, which
    the rounding of the sum decides, and that differs between processors.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(steps, vocabulary, vocabulary, vocabulary, generator=generator) * 2
    return logits.log_softmax(-1)


class _Step:
    """Keeps each row's previous token, as a decoder keeps its cache."""

    def __init__(self, tables: list[torch.Tensor]) -> None:
        self.tables = torch.stack(tables)
        self.items = torch.arange(len(tables))
        self.last = torch.zeros(len(tables), dtype=torch.long)
        self.step = 0

    def __call__(self, tokens, parents):
        if parents is not None:
            self.items, self.last = self.items[parents], self.last[parents]
        scores = self.tables[self.items, self.step, self.last, tokens]
        self.last = tokens
        self.step += 1
        return scores.clone()


def _slow(table: torch.Tensor, start: int, beams: int, max_steps: int) -> tuple[list[int], float]:
    """One item, beam by beam; sums in float32 as the search adds them."""
    values = table.numpy()

    def proposals(history, score):
        if history and history[-1] == END:
            return [([*history, END], score)]
        full = [0, start, *history]
        row = values[len(history), full[-2], full[-1]]
        best = np.argsort(-row, kind="stable")[:beams]
        return [([*history, int(t)], np.float32(score + row[t])) for t in best]

    live = proposals([], np.float32(0))
    for _ in range(max_steps - 1):
        if all(history[-1] == END for history, _ in live):
            break
        extended = [item for history, score in live for item in proposals(history, score)]
        live = sorted(extended, key=lambda item: -item[1])[:beams]
    history, score = max(live, key=lambda item: item[1])
    return history, float(score)


def _strip(sequence: list[int]) -> list[int]:
    while sequence and sequence[-1] == END:
        sequence = sequence[:-1]
    return sequence


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5),
    st.integers(4, 7),
    st.integers(1, 4),
    st.integers(1, 9),
)
def test_equal_to_the_slow_search(seeds, vocabulary, beams, max_steps):
    tables = [_table(seed, vocabulary, max_steps) for seed in seeds]
    start = torch.zeros(len(seeds), dtype=torch.long)
    found = beam_search(_Step(tables), start, END, beams, max_steps)
    for table, (sequence, total) in zip(tables, found, strict=True):
        expected, score = _slow(table, 0, beams, max_steps)
        assert _strip(sequence) == _strip(expected)
        assert total == pytest.approx(score, abs=1e-6)
        assert len(sequence) <= max_steps


def test_finished_beams_keep_their_score_and_compete():
    """`1` then end has .5 x .9; ending at once has .46 and wins, without a length penalty."""
    table = torch.full((4, 4, 4), 1e-9)
    for last, moves in {0: {1: 0.5, END: 0.46}, 1: {END: 0.9, 3: 0.1}, 3: {END: 1.0}}.items():
        for token, probability in moves.items():
            table[:, last, token] = probability
    step = _Step([table.log().expand(10, 4, 4, 4)])
    ((sequence, total),) = beam_search(step, torch.tensor([0]), END, 2, 10)
    assert _strip(sequence) == []
    assert total == pytest.approx(np.log(0.46), abs=1e-5)
