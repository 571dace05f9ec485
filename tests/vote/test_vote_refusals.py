"""What has no meaning for the arithmetic of the vote: each argument is named, with its shape."""

import numpy as np
import pytest

from brido.utils.errors import BridoError
from brido.vote.check import pair_accuracy
from brido.vote.consensus import consensus_scores, eligible_scores, ranking
from brido.vote.signals import combined, dealt, information, shuffled_scores

TEXT, ALL = ["a text"], np.ones((1, 2), bool)
THREE, R = np.zeros(3), np.zeros((1, 2, 3))
CASES = [
    (lambda: pair_accuracy([[1, 0]], [[0, 1]], [[1, 2, 3]]), "one shape"),
    (lambda: pair_accuracy([[1, 0]], [[0, 1]], [[1, 1]], 1.1), "tolerance"),
    (lambda: consensus_scores(np.zeros((3, 3)), 0), r"\[3, 3\]"),
    (lambda: consensus_scores(np.zeros((3, 4)), -1), "-1"),
    (lambda: consensus_scores(np.zeros((3, 4)), 1.5, "listing"),
     r"N - 1 \(here 2\) and inf, not 1\.5: use .*`equation`$"),
    (lambda: consensus_scores(np.array([[0.0, 0.5]]), 0), "one candidate"),
    (lambda: consensus_scores(TEXT, 1), "^similarity "),
    (lambda: eligible_scores(TEXT, 1, "equation", ALL, ALL),
     r"^similarity .* \[D, N, N \+ 1\] "),
    (lambda: eligible_scores(R, 1, "equation", [True], ALL),
     r"^voters \[1\] and eligible \[1, 2\] .* \[1, 2\]"),
    (lambda: ranking(TEXT), r"^scores .* \[\.\.\., N\] "),
    (lambda: information(TEXT, THREE, 0.5), r"^log_probability .* \[\.\.\., N\] "),
    (lambda: information(THREE, THREE, 0.5, None, 1.0), "^length_penalty .* need"),
    (lambda: information(THREE, THREE, 2.0), "^weight .* 2"),
    (lambda: information(THREE, np.zeros(2), 0.5), r" \[2\] .* \[3\]$"),
    (lambda: combined(THREE, [(THREE, 0.5)]), "^weight must be a number"),
    (lambda: combined(THREE, [(0.5, THREE)] * 3), "^what the weights .* -0.5"),
    (lambda: combined(THREE, [(0.5, np.zeros(2))]), r" \[2\] .* \[3\]$"),
    (lambda: dealt(THREE, np.zeros(2)), r" \[2\] .* \[3\]$"),
    (lambda: shuffled_scores(np.zeros((2, 3)), ["a"]), r"^scores \[2, 3\] .* 1 "),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), CASES)
def test_it_is_refused_by_name(call, message):
    with pytest.raises(BridoError, match=f"(?s){message}"):
        call()
