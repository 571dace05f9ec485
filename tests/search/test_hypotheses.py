"""Finished hypotheses against lists: the class of transformers 4.55, and the rule since 4.50."""

import math
import random

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.models.tokens import SpecialTokens
from brido.search import SearchSettings
from brido.search.groups import StepChoice
from brido.search.hypotheses import Hypotheses

ENDS, PAD, MAX_LENGTH, GIVEN = (1, 2), 9, 6, 1


class Grouped:
    """A group of `BeamHypotheses` as transformers 4.55 has it; hypotheses are (score, text)."""

    def __init__(self, size, penalty, early_stopping):
        self.size, self.penalty, self.early_stopping = size, penalty, early_stopping
        self.beams, self.done = [], False

    def keep(self, total, text, written):
        score = total / written**self.penalty
        if len(self.beams) == self.size and score <= min(beam[0] for beam in self.beams):
            return
        self.beams.append((score, text))
        if len(self.beams) > self.size:
            worst = min(range(len(self.beams)), key=lambda place: (self.beams[place][0], place))
            del self.beams[worst]

    def step(self, candidates, following, length):
        """candidates: (total, token, text so far), best first."""
        if self.done:
            return
        for total, token, text in candidates[: self.size]:
            if token in ENDS:
                self.keep(total, [*text, ENDS[0]], length + 1 - GIVEN)
        if len(self.beams) < self.size:
            return
        longest = length + 1
        if self.early_stopping == "never" and self.penalty > 0:
            longest = MAX_LENGTH
        attainable = candidates[0][0] / (longest - GIVEN) ** self.penalty
        worst = min(beam[0] for beam in self.beams)
        self.done = self.early_stopping is True or worst >= attainable

    def close(self, totals, texts):
        if not self.done:
            for total, text in zip(totals, texts, strict=True):
                self.keep(total, text, MAX_LENGTH - GIVEN)


class Plain(Grouped):
    """The rule of plain beam search: every end stands as it is, and at the limit all beams end."""

    def step(self, candidates, following, length):
        if self.done:
            return
        new = [
            (total / (length + 1 - GIVEN) ** self.penalty, [*text, token])
            for total, token, text in candidates[: self.size]
            if token in ENDS or length + 1 == MAX_LENGTH
        ]
        # Among equals the old, the latest first, then the new as they are listed.
        best = sorted([*reversed(self.beams), *new], key=lambda beam: -beam[0])[: self.size]
        self.beams = [beam for beam in [*self.beams, *new] if any(beam is one for one in best)]
        if len(self.beams) < self.size:
            return
        longest = length + 1
        if self.early_stopping == "never" and self.penalty > 0:
            longest = MAX_LENGTH
        attainable = following[0] / (longest - GIVEN) ** self.penalty
        worst = min(beam[0] for beam in self.beams)
        self.done = self.early_stopping is True or worst >= attainable

    def close(self, totals, texts):
        """All ended at the limit."""


def totals(generator, count):
    """Quarters, so that many are equal and sums are exact, best first."""
    return sorted((-generator.randint(0, 12) / 4 for _ in range(count)), reverse=True)


def run(kind, generator, documents, groups, size, penalty, early_stopping):
    """A search's steps with drawn candidates, followed by lists and by tensors."""
    oracle = [
        [kind(size, penalty, early_stopping) for _ in range(groups)] for _ in range(documents)
    ]
    grouped = kind is Grouped
    how = SearchSettings(
        length_penalty=penalty, early_stopping=early_stopping, max_length=MAX_LENGTH
    )
    shape, special = (documents, groups, size), SpecialTokens(ENDS, PAD)
    found = Hypotheses(shape, how, special, grouped, GIVEN, torch.device("cpu"))
    beams = groups * size
    going_on = generator.choice([2, 30])  # ends at most steps, or hardly any before the limit
    history = torch.full((documents, beams, MAX_LENGTH), PAD)
    history[:, :, 0] = 0
    for length in range(1, MAX_LENGTH):
        draws = [
            [draw(generator, group, size, 3 * size, going_on) for group in range(groups)]
            for _ in range(documents)
        ]
        for document in range(documents):
            for group in range(groups):
                scores, tokens, rows, following = draws[document][group]
                texts = [history[document, row, :length].tolist() for row in rows]
                candidates = list(zip(scores, tokens, texts, strict=True))
                oracle[document][group].step(candidates, following, length)
        scores, tokens, rows, following = (
            torch.tensor([[draw[part] for draw in row] for row in draws]) for part in range(4)
        )
        choice = StepChoice(scores, tokens, rows, following, tokens, rows)
        found.add(choice, history, length)
        compare(found, oracle)
        history[:, :, length] = torch.tensor(
            [[generator.randint(3, 8) for _ in range(beams)] for _ in range(documents)]
        )
    running = torch.tensor([totals(generator, beams) for _ in range(documents)])
    found.close(running, history, MAX_LENGTH)
    for document, row in enumerate(oracle):
        for group, one in enumerate(row):
            own = slice(group * size, (group + 1) * size)
            one.close(running[document, own].tolist(), history[document, own].tolist())
    compare(found, oracle)
    return found, oracle


def draw(generator, group, size, count, going_on):
    """Candidates of a group, best first: totals, tokens, rows; and the totals that go on.

    `going_on`: how many of the tokens drawn from go on, against the two that end.
    """
    tokens = [generator.choice([*ENDS, *[3] * going_on]) for _ in range(count)]
    rows = [generator.randrange(group * size, (group + 1) * size) for _ in range(count)]
    return totals(generator, count), tokens, rows, totals(generator, size)


def compare(found, oracle):
    """What is kept in every group; of equals the later arrival is told by `best`."""
    assert found.done.tolist() == [[one.done for one in row] for row in oracle]
    for document, row in enumerate(oracle):
        for group, one in enumerate(row):
            scores = found.scores[document, group].tolist()
            expected = sorted((beam[0] for beam in one.beams), reverse=True)
            expected += [-math.inf] * (len(scores) - len(expected))
            wanted = torch.tensor(expected, dtype=found.scores.dtype).tolist()
            assert sorted(scores, reverse=True) == wanted
            texts = [
                [token for token in text if token != PAD]
                for text in found.tokens[document, group].tolist()
            ]
            kept = [text for text, score in zip(texts, scores, strict=True) if score > -math.inf]
            assert sorted(kept) == sorted(beam[1] for beam in one.beams)


def check_best(found, oracle, count):
    tokens, scores, lengths, groups = found.best(count)
    assert scores.dtype == torch.float32
    for document, row in enumerate(oracle):
        every = [(*beam, group) for group, one in enumerate(row) for beam in one.beams]
        # Sorted upwards and taken from the end: of equals the later group and arrival go first.
        best = sorted(every, key=lambda beam: beam[0])[::-1][:count]
        for place, (score, text, group) in enumerate(best):
            assert groups[document, place] == group
            assert scores[document, place] == torch.tensor(score)
            assert tokens[document, place].tolist() == text + [PAD] * (MAX_LENGTH - len(text))
            assert lengths[document, place] == len(text)


@given(
    st.integers(0, 10_000),
    st.integers(1, 2),
    st.sampled_from([(1, 1), (1, 3), (3, 1), (2, 2), (2, 3)]),
    # A power of two divides quarters without rounding: what is equal stays equal.
    st.sampled_from([0.0, 1.0, 2.0, -1.0]),
    st.sampled_from([True, False, "never"]),
)
@settings(max_examples=40)
def test_groups_keep_what_the_lists_keep(seed, documents, shape, penalty, early_stopping):
    generator = random.Random(seed)
    found, oracle = run(Grouped, generator, documents, *shape, penalty, early_stopping)
    assert found.scores.dtype == torch.float64
    check_best(found, oracle, shape[0] * shape[1])
    check_best(found, oracle, 1)


@given(
    st.integers(0, 10_000),
    st.integers(1, 2),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0, -1.0]),
    st.sampled_from([True, False, "never"]),
)
@settings(max_examples=40)
def test_plain_search_keeps_what_the_list_keeps(seed, documents, size, penalty, early_stopping):
    generator = random.Random(seed)
    found, oracle = run(Plain, generator, documents, 1, size, penalty, early_stopping)
    assert found.scores.dtype == torch.float32
    check_best(found, oracle, size)
