"""`import brido` is light, and its names are those of their rooms; commands let threads sleep."""

import subprocess
import sys

import pytest

import brido


def test_import_brido_imports_nothing_heavy():
    code = "import sys, brido; print({name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "numpy", "numba", "pyarrow", "transformers", "pydantic", "click", "rich"}
    assert not heavy & eval(done.stdout)


def test_the_names_are_those_of_their_rooms():
    from brido.likelihood import candidate_log_likelihood
    from brido.rouge import similarity_matrix
    from brido.search import diverse_beam_search
    from brido.summarizer import Summarizer
    from brido.vote import consensus_scores, ranking

    rooms = [candidate_log_likelihood, consensus_scores, diverse_beam_search, ranking]
    rooms += [similarity_matrix, Summarizer]
    assert [getattr(brido, name) for name in brido.__all__] == rooms
    with pytest.raises(AttributeError, match="no attribute 'ranks'"):
        _ = brido.ranks
