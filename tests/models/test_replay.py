"""Steps that are recorded and replayed, against the same steps as they are.

On a processor a `Tape` stands in for a CUDA graph: it repeats PyTorch's operations on the very
tensors that they were recorded with, and none of the Python around them.
"""

import pytest
import tiny_decoders
import torch
from tiny_decoders import build_decoder, build_prompts
from tiny_models import build_model, build_sources
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from brido.models import decoder_only, encoder_decoder, replay
from brido.search import (
    SamplingSettings,
    SearchSettings,
    beam_search,
    diverse_beam_search,
    sample,
)
from brido.search.guidance import Guidance
from brido.search.sampling import document_uniforms

DOCUMENTS, LENGTH = 7, 40
SEARCHES = {
    "beams": {"num_beams": 3},
    "groups": {"num_beams": 4, "num_beam_groups": 2, "diversity_penalty": 0.7},
    "single": {"num_beams": 3, "num_beam_groups": 3, "diversity_penalty": 0.7},
}
KINDS = [*SEARCHES, "samples", "guided"]


class Tape(TorchDispatchMode):
    """Operations with their tensors. A look at a value is refused, as in a CUDA graph."""

    def __init__(self):
        super().__init__()
        self.operations, self.ran = [], True

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        assert operation not in (
            torch.ops.aten._local_scalar_dense.default,
            torch.ops.aten.nonzero.default,
        )
        result = operation(*args, **(kwargs or {}))
        self.operations.append((operation, args, kwargs or {}, result))
        return result

    def replay(self):
        # Recording it ran it once, which a CUDA graph does not do.
        for operation, args, kwargs, result in [] if self.ran else self.operations:
            again = operation(*args, **kwargs)
            for kept, new in zip(tree_leaves(result), tree_leaves(again), strict=True):
                if isinstance(kept, torch.Tensor) and kept.data_ptr() != new.data_ptr():
                    kept.copy_(new)
        self.ran = False


def record_on_tape(step, tokens):
    with Tape() as tape:
        logits = step(tokens)
    return tape.replay, logits


def count_records(monkeypatch, record):
    """The number of rows of everything that is recorded from now on."""
    rows = []

    def counted(step, tokens):
        rows.append(len(tokens))
        return record(step, tokens)

    monkeypatch.setattr(replay, "record", counted)
    return rows


def on_tape(monkeypatch):
    """Replay on a processor; return the rows recorded."""
    for module in (decoder_only, encoder_decoder):
        monkeypatch.setattr(module, "can_replay", lambda model, tokens, limit: True)
    monkeypatch.setattr(replay, "warm_up", lambda step, tokens: step(tokens))
    return count_records(monkeypatch, record_on_tape)


def build(family, end_bias=3.0):
    if family in tiny_decoders.FAMILIES:
        prompts = build_prompts(6, DOCUMENTS, 8, padded=True)
        return build_decoder(family, 6, end_bias), *prompts
    return build_model(family, 6, end_bias), *build_sources(family, 6, DOCUMENTS, 8, True)


def write(kind, model, ids, mask):
    if kind == "samples":
        settings = SamplingSettings(num_return_sequences=3, top_p=0.9, max_length=LENGTH)
        names = [str(number) for number in range(len(ids))]
        uniforms = document_uniforms(0, names, 3, LENGTH).to(ids.device)
        return sample(model, ids, mask, settings, uniforms)
    guidance = None
    if kind == "guided":
        guidance = Guidance(ids.roll(1, 0)[:, None], mask.roll(1, 0)[:, None], 0.4, 0.01)
    settings = SearchSettings(**SEARCHES.get(kind, SEARCHES["beams"]), max_length=LENGTH)
    search = diverse_beam_search if settings.num_beam_groups > 1 else beam_search
    return search(model, ids, mask, settings, guidance)


def assert_same(found, expected):
    assert torch.equal(found.sequences, expected.sequences)
    torch.testing.assert_close(found.scores, expected.scores, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["llama", "gpt2", "bart", "pegasus"])
def test_replayed_steps_write_what_steps_write(family, kind, monkeypatch):
    parts = build(family)
    expected = write(kind, *parts)
    recorded = on_tape(monkeypatch)
    assert_same(write(kind, *parts), expected)
    assert recorded


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [*tiny_decoders.FAMILIES, "bart", "mbart", "marian", "pegasus"])
def test_on_a_gpu_replayed_steps_write_what_steps_write(family, kind, monkeypatch):
    model, *tensors = build(family)
    model, tensors = model.cuda(), [part.cuda() for part in tensors]
    recorded = count_records(monkeypatch, replay.record)

    def both():
        with monkeypatch.context() as patch:
            patch.setattr(replay, "LEAST_STEPS", LENGTH + 1)
            before = len(recorded)
            expected = write(kind, model, *tensors)
            assert len(recorded) == before
        return write(kind, model, *tensors), expected

    assert_same(*both())
    # Some of its layers have a window that is shorter than a prompt.
    assert bool(recorded) == (family != "gemma3")
    model = model.float()
    found, expected = (result.sequences.flatten(0, 1) for result in both())
    shorter = min(found.shape[1], expected.shape[1])
    # Two texts of nearly the same score may change places by a rounding.
    assert (found[:, :shorter] == expected[:, :shorter]).all(1).double().mean() > 0.8
    model = model.bfloat16()
    assert all(result.scores.isfinite().all() for result in both())
