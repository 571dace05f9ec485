"""One model used by several threads at once: what each finds is what it finds alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from plain_likelihood import block
from tiny_decoders import build_decoder
from tiny_models import build_model

from brido.likelihood import candidate_log_likelihood
from brido.search import SearchSettings, beam_search

CALLS = 50  # of each of the three threads
SETTINGS = SearchSettings(num_beams=3, max_length=8)


@pytest.mark.parametrize("family", ["bart", "gpt2"])
@torch.no_grad()
def test_two_threads_score_while_one_writes(family):
    model = build_model("bart", 3) if family == "bart" else build_decoder(family, 3)
    ids, mask, texts, lengths = block(model, [6, 4], 3, 5, 3)
    ready = threading.Barrier(3)

    def score(calls: int) -> list[torch.Tensor]:
        with torch.no_grad():
            return [
                candidate_log_likelihood(model, ids, mask, texts, 1.0, lengths)
                for _ in range(calls)
            ]

    def write(calls: int) -> list[torch.Tensor]:
        return [beam_search(model, ids, mask, SETTINGS).sequences for _ in range(calls)]

    def at_once(work) -> list[torch.Tensor]:
        ready.wait()
        return work(CALLS)

    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(at_once, work) for work in (score, score, write)]
        first, second, written = (thread.result() for thread in found)
    (scores,), (sequences,) = score(1), write(1)
    assert all(torch.equal(scores, other) for other in [*first, *second])
    assert all(torch.equal(sequences, other) for other in written)
    assert len(first) + len(second) + len(written) == 3 * CALLS
