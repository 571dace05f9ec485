"""Windows, n-best list and null score of the reader, against a slow version of the rules."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.evaluation.qafacteval.answering import Reader, best_answer
from brido.evaluation.qafacteval.contexts import (
    Context,
    join_pieces,
    original_text,
    owning_windows,
    windows,
)
from brido.evaluation.qafacteval.weights import find_models

LENGTH = 384


@pytest.fixture(scope="module")
def reader(published) -> Reader:
    torch.set_num_threads(1)
    folder = find_models(str(published.folder))["answering"]
    return Reader(folder, torch.device("cpu"))


@pytest.mark.parametrize(
    ("pieces", "question", "expected"),
    [
        (0, 10, []),
        (371, 10, [(0, 371)]),
        (372, 10, [(0, 371), (128, 244)]),
        (499, 10, [(0, 371), (128, 371)]),
        (500, 10, [(0, 371), (128, 371), (256, 244)]),
        (318, 64, [(0, 317), (128, 190)]),
    ],
)
def test_windows(pieces, question, expected):
    found = windows(pieces, question)
    assert [(window.first, window.length) for window in found] == expected
    assert {window.offset for window in found} <= {question + 2}


@given(st.integers(1, 2000), st.integers(1, 64))
def test_every_piece_is_owned_by_its_best_window(pieces, question):
    found = windows(pieces, question)
    owner = owning_windows(pieces, found)
    assert found[-1].first + found[-1].length == pieces
    for piece in range(0, pieces, 13):
        scores = []
        for window in found:
            end = window.first + window.length - 1
            inside = window.first <= piece <= end
            best = min(piece - window.first, end - piece) + 0.01 * window.length
            scores.append(best if inside else -math.inf)
        assert owner[piece] == scores.index(max(scores))


def test_context_words_split_at_five_characters_only(reader):
    text = " The\tcourt\nin\r\u202fLeeds  met\xa0Ann\u2009Smith. "
    context = reader.context(text)
    words = [text[start:end] for start, end in context.words]
    assert words == ["The", "court", "in", "Leeds", "met\xa0Ann\u2009Smith."]
    assert len(context.pieces) == len(context.ids) == len(context.piece_words)
    for index in range(len(words)):
        own = [p for p, w in zip(context.pieces, context.piece_words, strict=True) if w == index]
        assert own == reader.tokenizer.tokenize(words[index])


def test_question_is_cut_to_64_pieces(reader):
    ids = reader.question_ids("What? " * 100)
    assert ids == reader.tokenizer("What? " * 100, add_special_tokens=False)["input_ids"][:64]


def _slow(context: Context, question: int, starts, ends):
    """The rules in plain lists, one after the other, as the SQuAD script states them."""
    found = windows(len(context.pieces), question)
    preliminary = []
    for index, window in enumerate(found):
        offset = window.offset
        top = [
            sorted(range(LENGTH), key=lambda p, row=row: row[p], reverse=True)[:20]
            for row in (starts[index], ends[index])
        ]
        for s in top[0]:
            for e in top[1]:
                inside = all(offset <= p < offset + window.length for p in (s, e))
                if not inside or e < s or e - s + 1 > 30:
                    continue
                piece = window.first + s - offset
                best = [
                    min(piece - w.first, w.first + w.length - 1 - piece) + 0.01 * w.length
                    if w.first <= piece < w.first + w.length
                    else -math.inf
                    for w in found
                ]
                if best.index(max(best)) != index:
                    continue
                total = float(starts[index][s]) + float(ends[index][e])
                preliminary.append((total, piece, window.first + e - offset))
    null = min(float(s[0]) + float(e[0]) for s, e in zip(starts, ends, strict=True))
    preliminary.append((null, None, None))
    preliminary.sort(key=lambda item: item[0], reverse=True)
    listed, seen = [], set()
    for total, first, last in preliminary:
        if len(listed) == 20:
            break
        text = ""
        if first is not None:
            words = context.piece_words[first], context.piece_words[last]
            text = original_text(
                join_pieces(context.pieces[first : last + 1]), context.words_text(*words)
            )
            if text in seen:
                continue
        seen.add(text)
        listed.append((text, total))
    if "" not in seen:
        listed.append(("", null))
    if len(listed) == 1:
        listed.insert(0, ("empty", 0.0))
    highest = max(total for _, total in listed)
    weights = [math.exp(total - highest) for _, total in listed]
    probabilities = [weight / sum(weights) for weight in weights]
    best = next(i for i, (text, _) in enumerate(listed) if text)
    null_at = [i for i, (text, _) in enumerate(listed) if not text][-1]
    return listed[best][0], probabilities[best], probabilities[null_at]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 700), st.integers(1, 64), st.booleans())
def test_equal_to_the_slow_rules(reader, seed, words, question, coarse):
    random = np.random.default_rng(seed)
    vocabulary = ["Leeds", "Ann,", "court", "O'Neil", "café", "1,200", "jumbo"]
    context = reader.context(" ".join(random.choice(vocabulary, words)))
    count = len(windows(len(context.pieces), question))
    logits = random.normal(0, 3, (2, count, LENGTH)).astype(np.float32)
    if seed % 2:
        # Otherwise the 20 best of a short context are nearly all outside of it.
        logits[:, :, question + 2 : question + 40] += 6
    if coarse:
        # Whole numbers make ties everywhere.
        logits = logits.round()
    starts, ends = logits
    result = best_answer(context, windows(len(context.pieces), question), starts, ends)
    text, probability, null = _slow(context, question, starts, ends)
    assert result["prediction"] == text
    assert result["probability"] == pytest.approx(probability, rel=1e-9)
    assert result["null_probability"] == pytest.approx(null, rel=1e-9)


def test_nothing_but_the_null_makes_the_stand_in(reader):
    context = reader.context("Ann")
    starts, ends = np.zeros((2, 1, LENGTH), dtype=np.float32)
    # Twenty better starts outside the context leave no valid span.
    starts[0, 100:140] = 5.0
    starts[0, 0], ends[0, 0] = -1.0, -2.0
    result = best_answer(context, windows(len(context.pieces), 4), starts, ends)
    assert result["prediction"] == "empty"
    weight = math.exp(-3.0)
    assert result["probability"] == pytest.approx(1 / (1 + weight))
    assert result["null_probability"] == pytest.approx(weight / (1 + weight))


def _one_by_one(published, reader, question: str, text: str):
    """The original model, a window at a time, padded to 384."""
    context = reader.context(text)
    ids = reader.question_ids(question)
    starts, ends = [], []
    tokenizer = reader.tokenizer
    for window in windows(len(context.pieces), len(ids)):
        pieces = context.ids[window.first : window.first + window.length]
        row = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
        front = len(row)
        row += [*pieces, tokenizer.sep_token_id]
        padding = LENGTH - len(row)
        output = published.answering(
            input_ids=torch.tensor([row + [0] * padding]),
            attention_mask=torch.tensor([[1] * len(row) + [0] * padding]),
            token_type_ids=torch.tensor([[0] * front + [1] * (len(row) - front) + [0] * padding]),
        )
        starts.append(output.start_logits[0].detach().numpy())
        ends.append(output.end_logits[0].detach().numpy())
    return best_answer(context, windows(len(context.pieces), len(ids)), starts, ends)


def _same(found, expected) -> bool:
    names = ("probability", "null_probability")
    return found["prediction"] == expected["prediction"] and all(
        found[name] == pytest.approx(expected[name], rel=1e-4) for name in names
    )


@pytest.mark.parametrize("batch_tokens", [1, 384 * 16])
def test_batches_answer_as_single_windows_do(published, reader, batch_tokens):
    words = ["court", "Leeds", "Ann", "cakes", "judge"]
    pairs = [
        ("Who left?", "Ann Smith left the court in Leeds."),
        ("What did the café sell?", "cakes " * 400 + "The owner sold 1,200 cakes."),
        ("When was it? " * 30, "On Monday."),
        ("", "Ann"),
        ("Who left the court?", " ".join(words[(i * i + i // 7) % 5] for i in range(5000))),
    ]
    done = dict(answer for batch in reader.run(pairs, batch_tokens) for answer in batch)
    for index, (question, text) in enumerate(pairs):
        expected = _one_by_one(published, reader, question, text)
        assert _same(done[index], expected)
