"""Eq. 1 (contrastive loss over ranked candidates), BRIO's cross-entropy, and Eq. 3, their sum."""

from typing import Literal

from brido.utils.extras import extra

with extra("torch"):
    from torch import Tensor

    from brido.training.loss_arguments import checked

MarginKind = Literal["difference", "fixed"]
Reduction = Literal["listing", "sum"]


def contrastive_loss(
    log_likelihood: Tensor,
    scores: Tensor,
    margin: float,
    margin_kind: MarginKind = "difference",
    reduction: Reduction = "listing",
    gold_log_likelihood: Tensor | None = None,
    gold_margin: float = 0.0,
    gold_weight: float = 0.0,
    eligible: Tensor | None = None,
) -> Tensor:
    """The ranking loss of Eq. 1, a scalar: the better of two candidates should be the likelier.

    log_likelihood [B, N] is f(S), scores [B, N] the consensus scores. Candidates come in any order
    and are ranked here, best score first; equal scores stay as they are. The pair i < j costs
    max(0, f(S_j) - f(S_i) + m_ij), where m_ij is (score_i - score_j) * margin (`difference`) or
    (j - i) * margin (`fixed`). `sum`, Eq. 1 as printed, adds all pairs of a document. `listing`,
    the paper's code, takes for every offset d = j - i the mean of its N - d pairs, and adds these.
    The loss is the mean over documents.

    One document, f = (-1.0, -0.5, -2.0), scores (0.5, 0.3, 0.1), margin 1, `difference`:

        (1,2): max(0, -0.5 + 1.0 + 0.2) = 0.7     (2,3): max(0, -2.0 + 0.5 + 0.2) = 0
        (1,3): max(0, -2.0 + 1.0 + 0.4) = 0

    `sum` gives 0.7; `listing` gives (0.7 + 0) / 2 + 0 / 1 = 0.35.

    eligible [B, N] bool: a candidate with False is as if it were not there, but its numbers must be
    finite; a document with fewer than two costs 0. With gold_weight > 0 the reference, of
    likelihood gold_log_likelihood [B], should beat every candidate by gold_margin: gold_weight
    times the mean (`listing`) or the sum over candidates is added.

    Raises:
        ArgumentError: something is not a number, shapes do not fit or are empty, a margin or
            gold_weight is negative or not finite, eligible is not boolean, the kind or reduction is
            unknown, or gold_weight lacks gold_log_likelihood.

    Example:
        >>> f, scores = torch.tensor([[-1.0, -0.5, -2.0]]), torch.tensor([[0.5, 0.3, 0.1]])
        >>> contrastive_loss(f, scores, margin=1.0)
        tensor(0.3500)
    """
    choices = {"margin_kind": margin_kind, "reduction": reduction}
    numbers = {"margin": margin, "gold_margin": gold_margin, "gold_weight": gold_weight}
    likelihood, scores, eligible, gold = checked(
        log_likelihood, scores, eligible, gold_log_likelihood, choices, numbers
    )
    best_first = scores.argsort(dim=1, descending=True, stable=True)
    likelihood, scores, eligible = (
        part.gather(1, best_first) for part in (likelihood, scores, eligible)
    )
    documents, candidates = len(scores), eligible.sum(1)
    # Below, [B, i, j] is a pair: candidate i is the better one where the offset j - i is positive.
    rank = eligible.cumsum(1) - 1
    offset = rank[:, None, :] - rank[:, :, None]
    if margin_kind == "difference":
        required = (scores[:, :, None] - scores[:, None, :]) * margin
    else:
        required = offset.to(likelihood.dtype) * margin
    violation = likelihood[:, None, :] - likelihood[:, :, None] + required.to(likelihood.dtype)
    pairs = (offset > 0) & eligible[:, :, None] & eligible[:, None, :]
    weight = pairs.to(likelihood.dtype)
    if reduction == "listing":
        # N - d pairs have the offset d: each weighs 1 / (N - d), so that their sum is a mean.
        weight = weight / (candidates[:, None, None] - offset.clamp(min=1)).clamp(min=1)
    loss = (violation.clamp(min=0) * weight).sum() / documents
    if gold is None or gold_weight == 0:
        return loss
    gold_violation = (likelihood - gold[:, None] + gold_margin).clamp(min=0) * eligible
    if reduction == "listing":
        gold_violation = gold_violation / candidates[:, None].clamp(min=1)
    return loss + gold_weight * (gold_violation.sum() / documents)


def smoothed_cross_entropy(
    log_probability: Tensor, mean_log_probability: Tensor, tokens: Tensor | float, smoothing: float
) -> Tensor:
    """BRIO's label-smoothed cross-entropy, a scalar in nats per token.

    The mean over scored tokens of -((1 - smoothing) * log p(token) + smoothing * mean_v log p(v)):
    the target puts smoothing / V on each of the V entries v of the vocabulary, and the rest on the
    token. log_probability, mean_log_probability: sums, of any shape, of log p(token) and of
    mean_v log p(v) over the `tokens`.

    Example:
        >>> sums, means = torch.tensor([-6.0, -4.0]), torch.tensor([-12.0, -8.0])
        >>> smoothed_cross_entropy(sums, means, torch.tensor([3, 2]), smoothing=0.1)
        tensor(2.2000)
    """
    total = (1 - smoothing) * log_probability.sum() + smoothing * mean_log_probability.sum()
    count = tokens.sum() if isinstance(tokens, Tensor) else tokens
    return -total / count


def combined_loss(cross_entropy: Tensor, contrastive: Tensor | float, gamma: float) -> Tensor:
    """Eq. 3: cross_entropy + gamma * contrastive, scalars; gamma 0: maximum likelihood alone.

    Example:
        >>> combined_loss(torch.tensor(2.0), torch.tensor(0.5), gamma=10.0)
        tensor(7.)
    """
    return cross_entropy + gamma * contrastive
