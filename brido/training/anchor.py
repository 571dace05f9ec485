"""Likelihoods of the model that a run starts from, stored before the first update.

`training.anchor: base` ranks f(S) - f_base(S): a model that is ranked so starts from zero
everywhere and moves only where the vote disagrees with it, because candidates that it already finds
likely need not become likelier. `training.loss: listwise` compares log p with base's too.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from accelerate.utils import gather_object

from brido.training.batches import Batch
from brido.training.checkpoints import SaveTimer, load_tensors, save_tensors
from brido.training.documents import RankedDocument
from brido.training.parallel import Parallel
from brido.utils.progress import Progress

# Of a document's texts, the cross-entropy's first, then its candidates, by the document's id: f(S),
# or log p where the loss is listwise.
Anchors = dict[str, list[float]]
# The same of some documents, a row each; rows may be filled up behind a document's own.
Likelihoods = Callable[[Sequence[RankedDocument]], list[list[float]]]


def base_likelihoods(
    likelihoods: Likelihoods,
    documents: Sequence[RankedDocument],
    size: int,
    parallel: Parallel,
    folder: Path,
    name: str,
) -> Anchors:
    """Compute the anchors of all documents, `size` at once; `likelihoods` runs the base model.

    Every process computes its share and keeps what it has in `folder`; killed, it goes on there.
    name: what the line of progress calls the run.
    """
    place, processes = parallel.index, parallel.count
    file = folder / f"anchor-{place}-of-{processes}.pt"
    mine = range(place, len(documents), processes)
    found: Anchors = load_tensors(file) if file.is_file() else {}
    # All processes run the model equally often, in case it is sharded: all start where the slowest
    # one is, and a process without documents left repeats the first ones and drops the result.
    every = range(len(documents))
    end = -(-len(documents) // processes)
    begin = min(gather_object([end if len(found) == len(mine) else len(found)]))
    timer = SaveTimer(parallel.runtime.checkpoint_minutes * 60)
    seconds = parallel.runtime.log_seconds
    with Progress(f"{name}: likelihoods of base", len(mine), interval=seconds) as progress:
        progress.skip(begin)
        for start in range(begin, end, size):
            own = mine[start : start + size]
            part = [documents[index] for index in own or every[:size]]
            rows = likelihoods(part)
            if own:
                for document, row in zip(part, rows, strict=True):
                    found[document.id] = row[: 1 + len(document.scores)]
            progress.advance(len(own))
            if timer.due or start + size >= end:
                timer.save(partial(save_tensors, found, file))
    return {name: values for part in gather_object([found]) for name, values in part.items()}


def anchored(batch: Batch, documents: Sequence[RankedDocument], anchors: Anchors) -> Batch:
    """Return the batch of these documents with their anchors."""
    anchor = torch.zeros(batch.targets.lengths.shape)
    for row, document in enumerate(documents):
        values = anchors[document.id]
        anchor[row, : len(values)] = torch.tensor(values)
    return batch._replace(anchor=anchor)
