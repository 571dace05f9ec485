"""`import brido` is light, and its names are those of their rooms; commands let threads sleep."""

import os
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


@pytest.mark.parametrize("given", [None, "7"])
@pytest.mark.parametrize("module", ["brido", "stages.needs"])
def test_the_threads_of_a_command_sleep_unless_the_user_says_otherwise(tmp_path, given, module):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os; atexit.register(lambda: print(os.environ.get('GOMP_SPINCOUNT')))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])}
    environment.pop("GOMP_SPINCOUNT", None)
    environment |= {"GOMP_SPINCOUNT": given} if given else {}
    command = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == (given or "1000")
