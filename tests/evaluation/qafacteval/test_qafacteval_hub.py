"""Models from the Hugging Face hub: once, then without a network."""

import json
import os
import subprocess
import sys
from pathlib import Path

from loopback_hub import LoopbackHub

FIND = (
    "import json\n"
    "from brido.evaluation.qafacteval.weights import find_models\n"
    "found = find_models('hub')\n"
    "print(json.dumps({name: str(path) for name, path in found.items()}))\n"
)


def _python(code: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own: huggingface_hub reads its settings on import."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**kept, "HF_HOME": str(home), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_archives_come_from_the_hub_once(published, tmp_path):
    hub = LoopbackHub()
    archives = tmp_path / "archives"
    archives.mkdir()
    for path in published.folder.glob("*.*z*"):
        (archives / path.name).hardlink_to(path)
    hub.add("models", "amritgupta/qafacteval", archives)
    hub.add("models", "facebook/bart-large", published.folder / "bart-large")
    with hub.running() as address:
        first = _python(FIND, tmp_path / "home", HF_ENDPOINT=address)
    assert first.returncode == 0, first.stderr
    folders = json.loads(first.stdout.splitlines()[-1])
    assert set(folders) == {"questions", "answering", "lerc_quip"}
    for folder in folders.values():
        assert Path(folder).is_relative_to(tmp_path / "home" / "brido" / "qafacteval")
        assert (Path(folder) / "model.safetensors").is_file()
    again = _python(FIND, tmp_path / "home", HF_HUB_OFFLINE="1")
    assert json.loads(again.stdout.splitlines()[-1]) == folders, again.stderr
