"""A training step as BRIO's published trainer computes it, written anew for comparison.

The encoder runs once a document; its states are then repeated for the reference and the N
candidates, so keys and values of the source are projected N + 1 times; the logits of all rows exist
at once, and log_softmax once more.
"""

import torch
from torch import Tensor
from torch.nn import MarginRankingLoss

SMOOTHING, GAMMA, MARGIN, LENGTH_PENALTY = 0.1, 20.0, 0.001, 2.0


def brio_loss(model: torch.nn.Module, sources: Tensor, mask: Tensor, sequences: Tensor) -> Tensor:
    """cross-entropy + GAMMA * contrastive, a scalar; sequences [B, 1 + N, T], reference first."""
    documents, rows, tokens = sequences.shape
    pad = model.config.pad_token_id
    states = model.get_encoder()(input_ids=sources, attention_mask=mask)[0]
    output = model(
        encoder_outputs=(states.repeat_interleave(rows, 0),),
        attention_mask=mask.repeat_interleave(rows, 0),
        decoder_input_ids=sequences.flatten(0, 1),
        use_cache=False,
    )
    logits = output.logits.view(documents, rows, tokens, -1)[:, :, :-1]
    targets = sequences[:, :, 1:]
    keep = (targets != pad).to(logits.dtype)
    chosen = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    likelihood = (chosen * keep).sum(-1) / keep.sum(-1) ** LENGTH_PENALTY
    cross_entropy = label_smoothing(logits[:, 0], targets[:, 0], keep[:, 0])
    return cross_entropy + GAMMA * ranking_loss(likelihood[:, 1:])


def label_smoothing(logits: Tensor, targets: Tensor, keep: Tensor) -> Tensor:
    """The smoothed cross-entropy with its target distribution written out."""
    log_probability = logits.log_softmax(-1)
    vocabulary = logits.shape[-1]
    wanted = torch.full_like(log_probability, SMOOTHING / vocabulary)
    wanted.scatter_(-1, targets[..., None], 1 - SMOOTHING + SMOOTHING / vocabulary)
    loss = -(wanted * log_probability).sum(-1)
    return (loss * keep).sum() / keep.sum()


def ranking_loss(likelihood: Tensor) -> Tensor:
    """The listing's loop over offsets, with the fixed margin."""
    total = likelihood.new_zeros(())
    for offset in range(1, likelihood.shape[1]):
        better = likelihood[:, :-offset].reshape(-1)
        worse = likelihood[:, offset:].reshape(-1)
        loss = MarginRankingLoss(MARGIN * offset)
        total = total + loss(better, worse, torch.ones_like(better))
    return total
