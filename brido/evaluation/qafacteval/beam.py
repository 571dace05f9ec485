"""The beam search that the question generator was released with (AllenNLP 1.1's).

It differs from `generate` in transformers: a finished beam stays in the beam, may only emit the end
token again at no cost, and competes with the others by its plain sum of log-probabilities; there is
no pool of finished hypotheses and no length penalty.
"""

from collections.abc import Callable

import torch

# step(tokens [rows], parents [rows] or None) -> log-probabilities [rows, vocabulary]; the search
# overwrites them. parents[r] is the row of the previous call that row r continues, None at first.
Step = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]


@torch.no_grad()
def beam_search(
    step: Step, start: torch.Tensor, end_id: int, num_beams: int = 4, max_steps: int = 100
) -> list[tuple[list[int], float]]:
    """The best sequence of every item, and its summed log-probability.

    `start` [items] holds the first decoder tokens, which are not part of the result; sequences keep
    their end token where they have one. At each step every beam proposes its `num_beams` best
    tokens and the `num_beams` best sums of all survive. An item is finished when all its beams have
    ended, or after `max_steps` tokens; finished items leave the batch.
    """
    found: dict[int, tuple[list[int], float]] = {}
    items = torch.arange(len(start), device=start.device)
    scores, tokens = step(start, None).topk(num_beams, dim=-1)
    history = tokens.unsqueeze(-1)
    parents = torch.arange(len(start), device=start.device)[:, None].expand(-1, num_beams)
    for position in range(1, max_steps + 1):
        alive = (tokens != end_id).any(dim=1) & (position < max_steps)
        for row in (~alive).nonzero().flatten().tolist():
            best = int(scores[row].argmax())
            found[int(items[row])] = history[row, best].tolist(), float(scores[row, best])
        if not alive.any():
            break
        items, scores, tokens = items[alive], scores[alive], tokens[alive]
        history, parents = history[alive], parents[alive]
        log_probabilities = step(tokens.reshape(-1), parents.reshape(-1))
        scores, tokens, origin = _continue(log_probabilities, scores, tokens, end_id)
        history = torch.cat(
            [
                history.gather(1, origin.unsqueeze(-1).expand(-1, -1, history.shape[-1])),
                tokens.unsqueeze(-1),
            ],
            dim=-1,
        )
        parents = torch.arange(len(items), device=start.device)[:, None] * num_beams + origin
    return [found[item] for item in range(len(start))]


def _continue(
    log_probabilities: torch.Tensor, scores: torch.Tensor, tokens: torch.Tensor, end_id: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores, tokens and previous beam [items, beams] after one step."""
    items, beams = scores.shape
    ended = (tokens == end_id).reshape(-1)
    log_probabilities[ended] = -torch.inf
    log_probabilities[ended, end_id] = 0.0
    proposals, proposed = log_probabilities.topk(beams, dim=-1)
    sums = (proposals.reshape(items, beams, beams) + scores[:, :, None]).reshape(items, -1)
    scores, chosen = sums.topk(beams, dim=-1)
    return scores, proposed.reshape(items, -1).gather(1, chosen), chosen // beams
