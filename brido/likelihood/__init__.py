"""f(S): the length-normalised log-likelihood of the candidates of a document."""
