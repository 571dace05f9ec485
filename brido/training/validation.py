"""Does the model rank candidates as the vote does?"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from accelerate.utils import send_to_device
from transformers import PreTrainedModel

from brido.likelihood import candidate_log_likelihood
from brido.models.language_model import LanguageModel
from brido.training.batches import Batches, RankedDocument

# A generator decodes a sample with the model as it stands and returns named measures of it.
MeasureSample = Callable[[LanguageModel], dict[str, float]]


def kendall_tau(first: np.ndarray, second: np.ndarray) -> float:
    """Kendall's tau-b of two lists of N values, from -1 to 1; NaN if all values of one are equal.

    tau-b = (concordant - discordant) / sqrt(untied in first * untied in second), over the
    N (N - 1) / 2 pairs of places.
    """
    upper = np.triu_indices(len(first), 1)
    signs = [np.sign(values[:, None] - values)[upper] for values in (first, second)]
    untied = [(sign != 0).sum() for sign in signs]
    with np.errstate(invalid="ignore"):
        return (signs[0] * signs[1]).sum() / np.sqrt(untied[0] * untied[1])


def rank_measures(
    log_likelihood: Sequence[np.ndarray], scores: Sequence[np.ndarray]
) -> dict[str, float]:
    """`tau`, the mean Kendall's tau of likelihood and score, and `top1`, both over documents.

    log_likelihood and scores: [N] a document, N as many as it has candidates. top1 is the share of
    documents whose likeliest candidate has the best score. Documents whose scores are all equal
    have no tau; NaN if none has one.
    """
    pairs = list(zip(log_likelihood, scores, strict=True))
    tau = np.array([kendall_tau(f, score) for f, score in pairs])
    defined = tau[~np.isnan(tau)]
    best = [score[f.argmax()] == score.max() for f, score in pairs]
    return {
        "tau": float(defined.mean()) if len(defined) else math.nan,
        "top1": float(np.mean(best)),
    }


def log_p_measures(per_token: Sequence[np.ndarray]) -> dict[str, float]:
    """log p a token, means over documents: of the best candidate, and of the mean of the others.

    per_token: [N] nats a token of each document's candidates, best score first. Where both fall
    together, the model degenerates. NaN without documents.
    """
    elected = [own[0] for own in per_token]
    rest = [own[1:].mean() for own in per_token]
    return {
        "log_p_elected": float(np.mean(elected)) if elected else math.nan,
        "log_p_rest": float(np.mean(rest)) if rest else math.nan,
    }


@torch.no_grad()
def validate_ranker(
    model: PreTrainedModel,
    batches: Batches,
    documents: Sequence[RankedDocument],
    length_penalty: float,
    documents_at_once: int,
    micro_batch: int | None = None,
) -> dict[str, float]:
    """`rank_measures` and `log_p_measures` of the model, in its mode, on the documents.

    micro_batch: at most so many candidates of a document run together.
    """
    rows, scores, per_token = [], [], []
    for start in range(0, len(documents), documents_at_once):
        part = [documents[i] for i in range(start, min(start + documents_at_once, len(documents)))]
        batch = send_to_device(batches.batch(part), model.device)
        likelihood = candidate_log_likelihood(
            model,
            batch.sources.ids,
            batch.sources.mask,
            batch.targets.ids[:, 1:],
            length_penalty,
            batch.targets.lengths[:, 1:],
            micro_batch,
        )
        # Texts that fill up a batch stand behind a document's own.
        values = likelihood.double().cpu().numpy()
        lengths = batch.targets.lengths[:, 1:].double().cpu().numpy()
        means = values * lengths ** (length_penalty - 1)
        for document, own, own_means in zip(part, values, means, strict=True):
            count = len(document.scores)
            rows.append(own[:count])
            per_token.append(own_means[:count])
            scores.append(np.array(document.scores))
    return rank_measures(rows, scores) | log_p_measures(per_token)
