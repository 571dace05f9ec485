"""The likelihood of texts, one plain forward pass each, for comparison; and texts to compare."""

import torch
import transformers
from torch import Tensor


def plain(
    model: transformers.PreTrainedModel, ids: Tensor, mask: Tensor, texts: Tensor, lengths: Tensor
) -> Tensor:
    """log p [B, N] of texts [B, N, T] with their sources [B, S]: nothing shared, nothing padded."""
    sums = []
    for source, keep, rows, ends in zip(ids, mask, texts, lengths, strict=True):
        own = source[keep.bool()]
        for row, end in zip(rows, ends, strict=True):
            text = row[: 1 + end]
            if model.config.is_encoder_decoder:
                logits = model(input_ids=own[None], decoder_input_ids=text[None, :-1]).logits[0]
            else:
                whole = torch.cat([own, text[1:]])[None]
                logits = model(input_ids=whole, use_cache=False).logits[0, len(own) - 1 : -1]
            sums.append(logits.log_softmax(-1).gather(1, text[1:, None]).sum())
    return torch.stack(sums).view(len(ids), -1)


def gradients(model: transformers.PreTrainedModel, values: Tensor) -> dict[str, Tensor]:
    """The gradients of a weighted sum of values, parameter by parameter."""
    weights = torch.linspace(-1, 2, values.numel(), dtype=values.dtype).view_as(values)
    model.zero_grad()
    (weights * values).sum().backward()
    return {
        name: weight.grad.clone()
        for name, weight in model.named_parameters()
        if weight.grad is not None
    }


def block(
    model: transformers.PreTrainedModel,
    sources: list[int],
    number: int,
    longest: int,
    seed: int,
    side: str = "left",
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Random sources [B, S] of these lengths and their mask, texts [B, N, T], lengths [B, N].

    Prompts are padded on `side`; position 0 of a text is its start token or its prompt's last.
    """
    generator = torch.Generator().manual_seed(seed)
    width, pad = max(sources), model.config.pad_token_id
    mask = (torch.arange(width) < torch.tensor(sources)[:, None]).long()
    ids = torch.randint(4, 61, mask.shape, generator=generator).masked_fill(mask == 0, pad)
    if model.config.is_encoder_decoder:
        given = torch.full((len(sources),), model.config.decoder_start_token_id)
    else:
        given = ids.gather(1, mask.sum(1, keepdim=True) - 1)[:, 0]
        if side == "left":
            order = mask.argsort(dim=1, stable=True)
            ids, mask = ids.gather(1, order), mask.gather(1, order)
    shape = len(sources), number
    lengths = torch.randint(1, longest + 1, shape, generator=generator)
    texts = torch.randint(4, 61, (*shape, longest), generator=generator)
    texts = texts.masked_fill(torch.arange(longest) >= lengths[..., None], pad)
    return ids, mask, torch.cat([given[:, None, None].expand(-1, number, 1), texts], 2), lengths
