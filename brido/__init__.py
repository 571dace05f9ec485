"""BRIDO: summarizers that learn to agree with their own majority."""

import sys
from itertools import pairwise

from brido.utils.errors import end_at_signals, speak_plainly

__version__ = "0.3.0.dev0"

# A command of ours (`python -m brido score`, the stages) imports for seconds before it can answer a
# signal itself. While Python looks for the module after -m, that is what argv[0] is.
if sys.argv[:1] == ["-m"] and any(
    option == "-m" and name.split(".")[0] in ("brido", "stages")
    for option, name in pairwise(sys.orig_argv)
):
    end_at_signals()
    speak_plainly()
