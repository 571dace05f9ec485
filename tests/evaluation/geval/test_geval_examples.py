"""The calls that docs/engines.md and help() show, on a server that marks by rule."""

import inspect

import pytest
from alone import failures
from bad_endpoint import BadEndpoint
from engine_examples import examples
from written_marks import clean_answer

from brido.evaluation.geval import GEval

IMPORTS = ">>> from brido.evaluation.geval import EndpointRuntime, GEval, GEvalSettings\n"
ADDRESS = "http://localhost:8000/v1"
SHOWN = {each.name: each.source for each in examples() if "import EndpointRuntime" in each.source}
assert SHOWN
SHOWN["help"] = IMPORTS + inspect.getdoc(GEval).partition("Example:\n")[2]


@pytest.mark.parametrize("name", SHOWN)
def test_the_call_prints_what_stands_below_it(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where answers are kept
    assert ADDRESS in SHOWN[name]
    with BadEndpoint(answer=clean_answer) as server:
        assert not failures({name: SHOWN[name].replace(ADDRESS, server.url)})
        assert server.requests
