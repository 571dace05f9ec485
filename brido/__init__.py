"""BRIDO: summarizers that learn to agree with their own majority."""

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

from brido.utils.device import let_threads_sleep
from brido.utils.errors import speak_plainly
from brido.utils.lazy import lazy
from brido.utils.signals import end_at_signals

__version__ = "0.5.0"

# A command of ours (`python -m brido score`, the stages) imports for seconds before it can answer a
# signal itself. While Python looks for the module after
# -m, that is what argv[0] is.
if sys.argv[:1] == ["-m"] and any(
    option == "-m" and name.split(".")[0] in ("brido", "stages")
    for option, name in pairwise(sys.orig_argv)
):
    end_at_signals()
    speak_plainly()
    let_threads_sleep()

if TYPE_CHECKING:
    from brido.likelihood.likelihood import candidate_log_likelihood as candidate_log_likelihood
    from brido.rouge.pairwise import similarity_matrix as similarity_matrix
    from brido.search.search import diverse_beam_search as diverse_beam_search
    from brido.summarizer import Summarizer as Summarizer
    from brido.vote.consensus import consensus_scores as consensus_scores
    from brido.vote.consensus import ranking as ranking

# Loaded when asked for: `import brido` imports neither numpy nor PyTorch.
_PUBLIC = {
    "candidate_log_likelihood": "likelihood.likelihood",
    "consensus_scores": "vote.consensus",
    "diverse_beam_search": "search.search",
    "ranking": "vote.consensus",
    "similarity_matrix": "rouge.pairwise",
    "Summarizer": "summarizer",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
