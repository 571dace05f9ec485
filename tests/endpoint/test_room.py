"""The room is read with every params.yaml: it brings neither settings, metrics nor clients."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("brido.endpoint", ("brido.settings", "brido.evaluation", "openai", "torch")),
        ("brido.utils.store", ("brido.endpoint", "openai", "asyncio", "ssl")),
    ],
)
def test_it_is_imported_without_settings_metrics_and_network_clients(module, unwanted):
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(done.stdout.split()) & set(unwanted)
