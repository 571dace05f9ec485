"""What the tests of the likelihood share."""

import pytest
import torch
from torch import Tensor


@pytest.fixture(autouse=True)
def _float64_throughout(monkeypatch):
    """Norms and softmaxes of published models step down to float32 whatever the model's type is."""
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(Tensor, "float", Tensor.double)
