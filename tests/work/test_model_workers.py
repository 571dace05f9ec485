"""Which device each worker gets."""

import pytest
import torch

from brido.work.settings import RuntimeSettings
from brido.work.worker import model_workers


@pytest.mark.parametrize(
    ("device", "gpus", "workers", "expected"),
    [
        ("auto", 0, None, ["auto"]),
        ("auto", 3, None, ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda", 2, None, ["cuda:0", "cuda:1"]),
        ("auto", 3, 2, ["cuda:0", "cuda:1"]),
        ("auto", 2, 3, ["cuda:0", "cuda:1", "cuda:0"]),
        # One that is named is taken, whatever else there is.
        ("cuda:1", 3, 2, ["cuda:1", "cuda:1"]),
        ("cpu", 0, 2, ["cpu", "cpu"]),
    ],
)
def test_a_worker_a_gpu_unless_settings_say_otherwise(monkeypatch, device, gpus, workers, expected):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    runtime = RuntimeSettings(device=device, workers=workers)
    assert model_workers(runtime).devices == expected
