"""A client of the loopback endpoint, as any section of params.yaml would make one."""

import pytest

from brido.endpoint import AskedModel, Client
from brido.endpoint.settings import EndpointRuntime

SECTION = "generation.big"


class Asking:
    """Asks texts through a `Client`; the store is the same throughout a test."""

    def __init__(self, store):
        self.store = store

    def client(self, server=None, parameters=None, answer_limit=256, **runtime):
        where = {"base_url": server.url} if server else {}
        settings = EndpointRuntime(**{"timeout_seconds": 5.0, **where, **runtime})
        model = AskedModel("m", None, {"max_tokens": answer_limit, **(parameters or {})})
        client = Client(SECTION, model, self.store, settings)
        client.model = model
        return client

    def plan(self, client, texts, samples=1):
        messages = [[{"role": "user", "content": text}] for text in texts]
        return client.plan([(client.model, message) for message in messages], samples)

    def __call__(self, server, texts, samples=1, parameters=None, **options):
        """The answers to each text, by sample number, after asking what the store lacks."""
        with self.client(server, parameters, **options) as client:
            plan = self.plan(client, texts, samples)
            client.ask(plan)
            return [
                {number: answer.text for number, answer in client.answers(key, samples).items()}
                for key in plan.keys
            ]


@pytest.fixture
def asking(tmp_path, monkeypatch):
    # Between two attempts it waits a fraction of what it would.
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.2)
    monkeypatch.setattr("brido.endpoint.asking._PAUSE", 0.1)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Asking(tmp_path / "answers.sqlite")
