"""Steps of a search on a GPU, recorded once as a CUDA graph and replayed.

A step of one token is hundreds of small kernels. To launch them takes several times as long as to
run them, so the launches are recorded (`torch.cuda.CUDAGraph`). A replay repeats the same work on
the same memory: a step's shapes must not change, and all that differs from step to step must lie on
the device (`StaticPasts`). So documents that are finished stay in the recorded batch until half of
them are gone.

What is recorded is the model's own forward pass, of decoder-only models and of encoder-decoders
that share. Of the latter this form has been replayed on a processor alone, operation by operation
(tests/models/test_replay.py): its speed on a GPU is not measured. A model that was loaded with
another attention than `sdpa`, or of a family that shares nothing, is not recorded.
"""

from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from brido.models.interface import Steps
from brido.models.sharing.pasts import rows_of

# Recording takes about as long as two or three steps.
LEAST_STEPS = 16
# Rotary positions that ask on the processor how long the text is.
LENGTHS_ASKED = ("dynamic", "longrope")

# A step: tokens [R] to logits [R, V].
Step = Callable[[Tensor], Tensor]


def can_replay(model: PreTrainedModel, tokens: int, limit: int) -> bool:
    """Whether the steps of a search may be recorded: `limit` tokens behind at most `tokens`.

    The whole model lies on one GPU in plain parameters (no layer on the processor, none quantized,
    none in shards), is not in training and records no gradient; autocast is off, under which
    weights are converted anew at every step; no layer's window is shorter than the text; rotary
    positions do not depend on its length.
    """
    if model.device.type != "cuda" or limit < LEAST_STEPS:
        return False
    devices = {part.device for part in chain(model.parameters(), model.buffers())}
    plain = all(type(weight) is torch.nn.Parameter for weight in model.parameters())
    window = getattr(model.config, "sliding_window", None)
    positions = str(getattr(model.config, "rope_parameters", None))
    return (
        plain
        and devices == {model.device}
        and not (model.training or torch.is_grad_enabled() or torch.is_autocast_enabled("cuda"))
        and (window is None or tokens + limit <= window)
        and not any(name in positions for name in LENGTHS_ASKED)
    )


class ReplayedSteps(Steps):
    """Steps whose keys and values lie in `StaticPasts`; each but the first is a replay.

    A recording is of a batch of documents, N rows each. Those that the caller drops stay in it at
    first, written on for nothing. `kept` are the documents of the batch that the caller still has,
    and `rows` where in the batch its rows are, None for all:

        batch, N = 2     0 0 1 1 2 2 3 3
        kept = [1, 3]        ^ ^     ^ ^     rows = [2, 3, 6, 7]
    """

    def __init__(self, steps: Any, limit: int) -> None:
        """steps: shared ones (`decoder_steps.py`) with `StaticPasts`, of at most `limit` tokens."""
        self.steps, self.pasts, self.limit = steps, steps.pasts, limit
        self.given, self.prompts = steps.given, steps.prompts

    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        logits = self.steps.start(tokens, rows_a_document)
        self.pasts.written = tokens.shape[1]
        self._begin(len(tokens), rows_a_document, tokens.device)
        return logits

    def _begin(self, documents: int, rows_a_document: int, device: torch.device) -> None:
        """Nothing is recorded of steps of this many rows."""
        self.batch = documents
        self.kept = torch.arange(documents, device=device)
        self.rows: Tensor | None = None
        self.tokens = torch.zeros(documents * rows_a_document, dtype=torch.long, device=device)
        self.warm = False
        self.recorded: tuple[Callable[[], None], Tensor] | None = None

    def step(self, tokens: Tensor) -> Tensor:
        if self.rows is None:
            self.tokens.copy_(tokens)
        else:
            self.tokens.index_copy_(0, self.rows, tokens)
        if not self.warm:
            self.warm, logits = True, warm_up(self.steps.step, self.tokens)
        else:
            if self.recorded is None:
                self.recorded = record(self.steps.step, self.tokens)
            replay, logits = self.recorded
            replay()
        self.pasts.written += 1
        return logits if self.rows is None else logits.index_select(0, self.rows)

    def reorder(self, rows: Tensor) -> None:
        """See Steps; rows of the batch that nobody asks for stay where they are."""
        if self.rows is not None:
            every = torch.arange(len(self.tokens), device=rows.device)
            rows = every.index_copy_(0, self.rows, self.rows.index_select(0, rows))
        self.steps.reorder(rows)

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        """See Steps. They are recorded anew if half of the batch is gone and enough steps are left;
        else all of it is written on."""
        kept = self.kept.index_select(0, documents)  # the caller counts those that it still has
        if 2 * len(kept) <= self.batch and self.limit - self.pasts.written >= LEAST_STEPS:
            # Before more memory is asked for, this gives back what was recorded.
            self._begin(len(kept), rows_a_document, kept.device)
            self.steps.keep(kept, rows_a_document)
        else:
            self.kept, self.rows = kept, rows_of(kept, rows_a_document)


def warm_up(step: Step, tokens: Tensor) -> Tensor:
    """A step before it is recorded, on the recording stream: libraries ready what they need."""
    present, aside = torch.cuda.current_stream(tokens.device), _stream(tokens.device)
    aside.wait_stream(present)
    with torch.cuda.stream(aside):
        logits = step(tokens)
    present.wait_stream(aside)
    return logits


def record(step: Step, tokens: Tensor) -> tuple[Callable[[], None], Tensor]:
    """What replays a step that reads `tokens`, and where the logits then lie. Nothing is run yet.

    Other threads, such as those that load data, may use the device meanwhile.
    """
    graph = torch.cuda.CUDAGraph()
    aside = _stream(tokens.device)
    with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):
        logits = step(tokens)
    return graph.replay, logits


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """One stream for all recordings of a device: each has a workspace for matrix products."""
    return torch.cuda.Stream(device)
