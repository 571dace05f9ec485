"""A judge of the loopback endpoint."""

import pytest

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.settings import GEvalSettings


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """A function that makes a judge for a server; the store is the same throughout a test."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def make(server=None, runtime=None, **settings):
        where = {"base_url": server.url} if server else {}
        always = {"store": str(tmp_path / "answers.sqlite"), "timeout_seconds": 5.0, **where}
        chosen = {"model": "judge", "samples": 1, "temperature": 0.0, **settings}
        return GEval(GEvalSettings(**chosen), EndpointRuntime(**{**always, **(runtime or {})}))

    return make
