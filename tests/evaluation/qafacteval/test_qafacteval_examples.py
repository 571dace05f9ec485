"""The calls that docs/engines.md and help() show, on tiny stand-ins for published weights."""

import inspect

import pytest
from alone import failures
from engine_examples import examples

from brido.evaluation.qafacteval import QAFactEval

SHOWN = {each.name: each.source for each in examples() if "import QAFactEval" in each.source}
assert SHOWN
SHOWN["help"] = inspect.getdoc(QAFactEval).partition("Example:\n")[2]
IMPORTS = ">>> from brido.evaluation.qafacteval import QAFactEval\n"


@pytest.mark.parametrize("name", SHOWN)
def test_the_call_prints_what_stands_below_it(name, published, pipeline_folder):
    given = IMPORTS + SHOWN[name]
    for shown, used in (('"hub"', published.folder), ('"en_core_web_sm"', pipeline_folder)):
        assert shown in given
        given = given.replace(shown, repr(str(used)))
    assert not failures({name: given})
