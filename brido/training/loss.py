"""The losses over a document's candidates, BRIO's cross-entropy, and Eq. 3, their weighted sum.

`training.loss` chooses between `contrastive_loss` (Eq. 1, the paper's), `spread_loss` and
`listwise_loss`.
"""

from typing import get_args

from brido.utils.arguments import check_choices
from brido.utils.extras import extra

with extra():
    from torch import Tensor

    from brido.training.loss_arguments import (
        candidate_tensors,
        check_finite_tensors,
        check_not_negative,
        check_positive,
        gold_tensor,
    )
    from brido.training.loss_terms import (
        MarginKind,
        Reduction,
        gold_term,
        listwise_term,
        ranking_term,
        spread_term,
    )


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
        ArgumentError: something is not a number, NaN or infinite, shapes do not fit or are empty, a
            margin or gold_weight is negative, eligible is not boolean, the kind or reduction is
            unknown, or gold_weight lacks gold_log_likelihood.

    Example:
        >>> f, scores = torch.tensor([[-1.0, -0.5, -2.0]]), torch.tensor([[0.5, 0.3, 0.1]])
        >>> contrastive_loss(f, scores, margin=1.0)
        tensor(0.3500)
    """
    likelihood, eligible, (scores,) = candidate_tensors(log_likelihood, eligible, scores=scores)
    kinds = {"margin_kind": (margin_kind, get_args(MarginKind))}
    check_choices(kinds | {"reduction": (reduction, get_args(Reduction))})
    check_not_negative(margin=margin, gold_margin=gold_margin, gold_weight=gold_weight)
    gold = gold_tensor(gold_log_likelihood, gold_weight, likelihood)
    check_finite_tensors(log_likelihood=likelihood, scores=scores, gold_log_likelihood=gold)
    loss = ranking_term(likelihood, scores, eligible, margin, margin_kind, reduction)
    if gold is None:
        return loss
    return loss + gold_weight * gold_term(likelihood, gold, eligible, gold_margin, reduction)


def spread_loss(log_likelihood: Tensor, eligible: Tensor | None = None) -> Tensor:
    """The variance of f(S) within a document, a scalar: candidates should be equally likely.

    No order has a part in it. Eq. 1 does the same under any order (docs/method.md), so what an
    order adds shows beside this loss. log_likelihood [B, N] is f(S). The loss of a document is the
    mean over its n eligible candidates of (f(S_i) - mean f)^2: the population variance, which
    divides by n. The loss is the mean over documents.

    One document, f = (-1.0, -2.0, -3.0): the mean is -2 and the loss (1 + 0 + 1) / 3.

    eligible [B, N] bool: a candidate with False is as if it were not there, but its likelihood must
    be finite; a document with fewer than two costs 0.

    Raises:
        ArgumentError: the likelihoods are not numbers, NaN or infinite, not [B, N] or empty, or
            eligible is not boolean or has another shape.

    Example:
        >>> spread_loss(torch.tensor([[-1.0, -2.0, -3.0]]))
        tensor(0.6667)
    """
    likelihood, eligible, _ = candidate_tensors(log_likelihood, eligible)
    check_finite_tensors(log_likelihood=likelihood)
    return spread_term(likelihood, eligible)


def listwise_loss(
    log_likelihood: Tensor,
    scores: Tensor,
    base_log_likelihood: Tensor,
    temperature: float = 1.0,
    log_ratio_scale: float = 0.5,
    eligible: Tensor | None = None,
) -> Tensor:
    """InfoNCA (2402.05369), a scalar: the shares that candidates gain on base should follow scores.

    log_likelihood, base_log_likelihood [B, N] are log p(S), sums over tokens that no length
    divides, of the model and of the one that training starts from; g is their difference. z are the
    scores [B, N], standardised within the document (mean 0, population variance 1; 0 where all are
    equal). The loss of a document, of which the mean over documents is taken:

        - sum over i of  softmax(z / temperature)_i  *  log softmax(log_ratio_scale * g)_i

    If a coin decides the scores, their expected share is the same for all candidates, and the model
    that makes the loss smallest is base itself: what the scores do not know, it does not learn.

    One document, scores (0.5, 0.3), log p (-10, -12), base's (-11, -11), temperature 1, scale 0.5:

        z = (1, -1): shares e / (e + 1/e) = 0.8808 and 0.1192
        g = (1, -1), halved (0.5, -0.5): log softmax = (-0.3133, -1.3133)
        0.8808 * 0.3133 + 0.1192 * 1.3133 = 0.4325

    eligible [B, N] bool: a candidate with False is as if it were not there, but its numbers must be
    finite; a document with fewer than two costs 0.

    Raises:
        ArgumentError: something is not a number, NaN or infinite, shapes do not fit or are empty,
            temperature or log_ratio_scale is not above 0, or eligible is not boolean.

    Example:
        >>> own, base = torch.tensor([[-10.0, -12.0]]), torch.tensor([[-11.0, -11.0]])
        >>> listwise_loss(own, torch.tensor([[0.5, 0.3]]), base)
        tensor(0.4325)
    """
    likelihood, eligible, (scores, base) = candidate_tensors(
        log_likelihood, eligible, scores=scores, base_log_likelihood=base_log_likelihood
    )
    check_positive(temperature=temperature, log_ratio_scale=log_ratio_scale)
    check_finite_tensors(log_likelihood=likelihood, scores=scores, base_log_likelihood=base)
    log_ratio = likelihood - base.to(likelihood.dtype)
    return listwise_term(log_ratio, scores, eligible, temperature, log_ratio_scale)


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

    contrastive: any of the losses over candidates.

    Example:
        >>> combined_loss(torch.tensor(2.0), torch.tensor(0.5), gamma=10.0)
        tensor(7.)
    """
    return cross_entropy + gamma * contrastive
