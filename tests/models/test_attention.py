"""Attention is set once a model, for one thread or several, and else is that of transformers."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from plain_likelihood import block
from tiny_decoders import build_decoder
from tiny_models import build_model

from brido.likelihood import candidate_log_likelihood
from brido.models.sharing.attention import SHARED
from brido.search import SearchSettings, beam_search

CALLS = 50  # of each of three threads


@pytest.mark.parametrize("make", [lambda: build_model("bart", 1), lambda: build_decoder("gpt2", 1)])
@torch.no_grad()
def test_attention_is_set_once_and_is_otherwise_that_of_transformers(make):
    model = make()
    ids, mask, texts, lengths = block(model, [9, 5], 3, 6, 5)
    given = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = texts[:, 0]
    expected = model(**given).logits
    found = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    assert model.config._attn_implementation == SHARED
    assert torch.equal(model(**given).logits, expected)
    # A model that was loaded with another attention keeps it, and shares nothing.
    model.set_attn_implementation("eager")
    other = candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
    torch.testing.assert_close(other, found)
    settings = SearchSettings(num_beams=3, max_length=8)
    written = beam_search(model, ids, mask, settings).sequences
    assert model.config._attn_implementation == "eager"
    model.set_attn_implementation("sdpa")
    assert torch.equal(beam_search(model, ids, mask, settings).sequences, written)
    assert model.config._attn_implementation == SHARED


@pytest.mark.parametrize("family", ["bart", "gpt2"])
@torch.no_grad()
def test_two_threads_score_while_one_writes(family):
    model = build_model("bart", 3) if family == "bart" else build_decoder(family, 3)
    ids, mask, texts, lengths = block(model, [6, 4], 3, 5, 3)
    ready, settings = threading.Barrier(3), SearchSettings(num_beams=3, max_length=8)

    def score(calls):
        with torch.no_grad():
            return [
                candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
                for _ in range(calls)
            ]

    def write(calls):
        return [beam_search(model, ids, mask, settings).sequences for _ in range(calls)]

    def at_once(work):
        ready.wait()
        return work(CALLS)

    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(at_once, work) for work in (score, score, write)]
        first, second, written = (thread.result() for thread in found)
    (scores,), (sequences,) = score(1), write(1)
    assert all(torch.equal(scores, other) for other in [*first, *second])
    assert all(torch.equal(sequences, other) for other in written)
    assert len(first) + len(second) + len(written) == 3 * CALLS
