"""f(S) of the model that a run starts from: what `training.anchor: base` ranks against.

A model that is ranked by f(S) - f_base(S) starts from zero everywhere and moves only where the vote
disagrees with it: what it finds likely already need not become likelier still.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from torch import Tensor

from brido.likelihood import candidate_log_likelihood
from brido.training.batches import Batch
from brido.training.checkpointing import load_tensors, save_tensors
from brido.training.documents import RankedDocument
from brido.training.pauses import pause
from brido.utils.progress import Progress

if TYPE_CHECKING:
    from brido.training.contrastive import ContrastiveTask

# f(S) of a document's texts, the cross-entropy's first, then its candidates, by the document's id.
Anchors = dict[str, list[float]]


@torch.no_grad()
def base_likelihoods(task: ContrastiveTask, accelerator: Accelerator) -> Anchors:
    """The anchors of all documents, with the model as it is: the base.

    Every process computes its share and keeps what it has in the task's folder; killed, it goes on
    there.
    """
    place, processes = accelerator.process_index, accelerator.num_processes
    file = task.folder / f"anchor-{place}-of-{processes}.pt"
    mine = range(place, len(task.documents), processes)
    found = _computed(task, accelerator, mine, file)
    return {name: values for part in gather_object([found]) for name, values in part.items()}


def _computed(
    task: ContrastiveTask, accelerator: Accelerator, mine: Sequence[int], file: Path
) -> Anchors:
    found: Anchors = load_tensors(file) if file.is_file() else {}
    longest, size = task.runtime.checkpoint_minutes * 60, task.documents_at_once
    # The processes of a sharded model run it equally often: all from where the last one is, and one
    # without documents of its own runs some for nothing.
    every = range(len(task.documents))
    end = -(-len(every) // accelerator.num_processes)
    begin = min(gather_object([end if len(found) == len(mine) else len(found)]))
    saved, wait = time.monotonic(), pause(0.0, longest)
    training = task.model.training
    task.model.eval()
    label = f"{task.name}: likelihoods of base"
    with Progress(label, len(mine), interval=task.runtime.log_seconds) as progress:
        progress.skip(begin)
        for start in range(begin, end, size):
            own = mine[start : start + size]
            documents = [task.documents[place] for place in own or every[:size]]
            batch = task.batches.batch(documents).to(accelerator.device)
            with accelerator.autocast():
                values = candidate_log_likelihood(
                    task.model,
                    batch.sources.ids,
                    batch.sources.mask,
                    batch.targets.ids,
                    task.settings.length_penalty,
                    batch.targets.lengths,
                    task.runtime.candidate_micro_batch,
                )
            if own:
                for document, row in zip(documents, values.tolist(), strict=True):
                    found[document.id] = row[: 1 + len(document.scores)]
            progress.advance(len(own))
            if time.monotonic() - saved >= wait or start + size >= end:
                began = time.monotonic()
                save_tensors(found, file)
                saved = time.monotonic()
                wait = pause(saved - began, longest)
    task.model.train(training)
    return found


def anchored(batch: Batch, documents: Sequence[RankedDocument], anchors: Anchors) -> Batch:
    """The batch of these documents with their anchors."""
    anchor: Tensor = torch.zeros(batch.targets.lengths.shape)
    for row, document in enumerate(documents):
        values = anchors[document.id]
        anchor[row, : len(values)] = torch.tensor(values)
    return batch._replace(anchor=anchor)
