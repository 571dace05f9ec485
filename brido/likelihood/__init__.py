"""f(S): the length-normalised log-likelihood of the candidates of a document."""

from brido.utils.extras import extra

with extra("torch"):
    from brido.likelihood.likelihood import candidate_log_likelihood

__all__ = ["candidate_log_likelihood"]
