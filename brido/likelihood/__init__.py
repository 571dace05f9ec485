"""f(S), the length-normalised log-likelihood of candidates, and what their document adds to it."""

from brido.utils.extras import extra

with extra():
    from brido.likelihood.information import information_terms
    from brido.likelihood.likelihood import candidate_log_likelihood

__all__ = ["candidate_log_likelihood", "information_terms"]
